"""Rows in clusters or with weights: independent clusters take the place of rows."""
