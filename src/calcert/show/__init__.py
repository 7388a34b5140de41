"""Showing results: text, pictures, pages. Nothing here computes a bound."""
