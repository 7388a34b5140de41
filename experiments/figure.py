"""How figures look: one colour, marker and line to each method, safe for colour-blind readers and for grey print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from calcert.foundation.whole_regular_file import replacing

STYLES: dict[str, dict[str, Any]] = {
    "NW (published)": {"color": "#0072B2", "marker": "o", "ls": "--"},
    "TV (published)": {"color": "#D55E00", "marker": "s", "ls": "--"},
    "Lip+Bkt (described; bound ours)": {"color": "#CC79A7", "marker": "^", "ls": "--"},
    "ECE, 15 bins (heuristic)": {"color": "#777777", "marker": "x", "ls": ":"},
    "perturbed (ours)": {"color": "#0072B2", "marker": "o", "ls": "-", "lw": 2.2},
    "bounded variation (ours)": {"color": "#D55E00", "marker": "s", "ls": "-", "lw": 2.2},
    "Lipschitz (ours)": {"color": "#CC79A7", "marker": "^", "ls": "-", "lw": 2.2},
    "squared (ours)": {"color": "#56B4E9", "marker": "d", "ls": "-", "lw": 1.2},
    "finite (ours)": {"color": "#009E73", "marker": "D", "ls": "-", "lw": 2.2},
    "distance (ours)": {"color": "#009E73", "marker": "v", "ls": "-", "lw": 2.2},
}


def save(figure: Any, path: Path) -> None:
    """Write `path`.svg and `path`.png, the same bytes for the same picture, each whole or not at all."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "calcert", "svg.fonttype": "none"}):
        for ending, how in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": 120})):
            with replacing(path.with_suffix(f".{ending}")) as unfinished:
                figure.savefig(unfinished, format=ending, **how)
