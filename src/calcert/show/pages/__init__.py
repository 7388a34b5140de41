"""Results as pages: one self-contained file each."""
