"""Engines that count where the rows are: data frames, databases, clusters, and SQL as text."""
