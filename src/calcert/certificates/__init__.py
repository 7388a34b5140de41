"""One theorem, one file: each certificate is a pure function of a Summary."""
