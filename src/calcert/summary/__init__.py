"""The Summary: the integers that travel. Cells, counts, how they are saved, and what a query returns."""
