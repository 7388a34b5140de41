"""Colours and hatches of the pictures: told apart by colour-blind people, and in black and white by line and hatch."""

from __future__ import annotations

from typing import Any

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

STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 10.0,
    "legend.fontsize": 9.0,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": PAPER,
    "legend.facecolor": PAPER,
    "legend.edgecolor": FAINT,
    "legend.framealpha": 0.85,
    "hatch.linewidth": 0.6,
    "hatch.color": INK,
}
"""Settings of pictures that are drawn without an `ax` of the caller's."""
