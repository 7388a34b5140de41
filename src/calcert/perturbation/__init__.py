"""Perturbed scores: the noise around a score, on a grid and row by row."""
