"""Results as pictures (matplotlib)."""
