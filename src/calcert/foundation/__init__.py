"""What every room stands on: checks of arguments, progress, and the one way to write a file."""
