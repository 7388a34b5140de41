"""The distribution of perturbed scores on a grid: coordinates, placed rows, and what placing hides."""
