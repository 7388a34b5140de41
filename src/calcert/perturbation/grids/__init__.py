"""The law of served scores on a grid: coordinates, placed rows, and what placing hides."""
