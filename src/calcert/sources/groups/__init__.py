"""Rows of many groups, summarised in one pass."""
