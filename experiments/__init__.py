"""Experiments: each figure and table by one command, ``python -m experiments.NAME [--quick]``."""
