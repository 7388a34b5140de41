"""Whether this process is the program ``calcert``, which lives for a second, or another's that imports it."""

alone = False
"""True where nobody else's code runs in this process; the command line says so when it starts as a program."""
