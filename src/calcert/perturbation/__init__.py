"""What is served: the noise around a score, on a grid and row by row."""
