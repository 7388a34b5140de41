"""Theorem 6: the distance from calibration, and the linear program behind it."""
