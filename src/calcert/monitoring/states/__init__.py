"""The file that a monitor keeps: opened, checked, read, written and remembered."""
