# Bands of the R package calibrationband for many data sets: benchmarks/bands.py calls this.
# Rscript bands.R ROWS_FILE BANDS_FILE SETS ROWS ALPHA METHOD DIGITS; numbers are doubles, set after set:
# scores and labels in, and out the number of points, the points, lower and upper limits.
given <- commandArgs(TRUE)
suppressMessages(library(calibrationband))
rows <- file(given[1], "rb")
bands <- file(given[2], "wb")
n <- as.integer(given[4])
for (set in seq_len(as.integer(given[3]))) {
  x <- readBin(rows, "double", n)
  y <- readBin(rows, "double", n)
  digits <- if (given[6] == "round") as.integer(given[7]) else NULL
  band <- calibration_bands(x, y, alpha = as.numeric(given[5]), method = given[6], digits = digits)$bands
  writeBin(as.double(c(nrow(band), band$x, band$lwr, band$upr)), bands)
}
close(rows)
close(bands)
