"""Colours and hatches of the pictures: told apart by colour-blind people, and in black and white by line and hatch."""

from __future__ import annotations

INK, PAPER, FAINT = "#1b1b1b", "#fefefe", "#8a8a8a"
BLUE, ORANGE, GREEN, PURPLE, RED = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00"

TERMS = {
    "plug-in": (BLUE, ""),
    "sampling": (ORANGE, "///"),
    "group bias": (GREEN, "|||"),
    "discretisation": (FAINT, "xxx"),
}
"""Fill and hatch of each term of a bound."""

ROLES = {
    INK: "ink",
    PAPER: "paper",
    FAINT: "faint",
    BLUE: "blue",
    ORANGE: "orange",
    GREEN: "green",
    PURPLE: "purple",
    RED: "red",
}
"""Names under which a page may give the colours other values, as it does in the dark."""
