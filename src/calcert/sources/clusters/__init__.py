"""Rows in clusters or with weights, as they come and as they are added up."""
