"""Rows in clusters or with weights: independent units in place of rows."""
