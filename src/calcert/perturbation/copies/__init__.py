"""Copies of files with one more column."""
