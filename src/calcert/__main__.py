"""``python -m calcert``: the command line where no script is on the path."""

from calcert.cli import main

main(prog_name="calcert")
