"""What noise costs and buys, as blocks and as a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from calcert.foundation.number_text import at_least, at_most, confidence, fraction, given, rows_text
from calcert.show.block import Block, Column, Paragraph, Table, Verdict
from calcert.show.canvas import BLUE, INK, RED, WIDTH, axes_below, axes_for, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.reports.noise_costs import NoiseCosts


def noise_costs_blocks(costs: NoiseCosts, max_auroc_loss: float = 0.001) -> list[Block]:
    """A line for each noise, then the recommendation in words."""
    best = costs.recommended(max_auroc_loss)
    kinds = " of one kind of noise" if len({row.noise.kind for row in costs.rows}) > 1 else ""
    names = ("noise", "AUROC", "lost", "log loss", "mean shift")
    known = Table([*map(Column, names), Column("certified at most", wraps=True), Column("", of_words=True)])
    known.add("none", _four_digits(costs.auroc), "", _four_digits(costs.log_loss), "", "", "current scores")
    for row, before in zip(costs.rows, (None, *costs.rows), strict=False):
        if before is None or before.noise.kind != row.noise.kind:
            known.add(row.noise.keyword)
        remark = "recommended" if row is best else "" if row.fits_rare_events else "too large"
        known.add(
            fraction(row.noise.size),
            _four_digits(row.auroc),
            "" if math.isnan(row.auroc_loss) else f"{max(row.auroc_loss, 0.0):.2g}",
            _four_digits(row.log_loss),
            f"{row.mean_shift:.2g}",
            at_most(row.upper),
            remark,
            style="bold" if row is best else "",
        )
    lines: list[Block] = [
        Paragraph(f"{rows_text(costs.n)}, mean score {costs.mean_score:.4g}"),
        known,
        Paragraph(
            f"All certified bounds{kinds} hold together with probability {confidence(costs.delta)}; the rest are "
            "estimates."
        ),
    ]
    if not all(row.fits_rare_events for row in costs.rows):
        lines.append(
            Paragraph(
                "Too large: above an eighth of the mean score of the rarer outcome, which a bandwidth would drown."
            )
        )
    return [*lines, Verdict(advice(costs, max_auroc_loss))]


def advice(costs: NoiseCosts, max_auroc_loss: float) -> str:
    """The recommendation, or why there is none."""
    best, price = costs.recommended(max_auroc_loss), f"{given(max_auroc_loss)} of AUROC"
    rare = [row for row in costs.rows if not row.fits_rare_events]
    if best is not None:
        words = f"Recommended: {best.noise.shown}, the largest that costs at most {price}."
    elif len(rare) == len(costs.rows):
        words = "None can be recommended: the rarer outcome is too rare for all of these. Try smaller ones with --try."
    else:
        words = f"None can be recommended: each costs more than {price}. Try smaller ones with --try."
    cheap = [row.noise for row in rare if not row.auroc_loss > max_auroc_loss]
    if best is not None and any(n.kind == best.noise.kind and n.size > best.noise.size for n in cheap):
        words += " Larger ones would rank about as well, but the rarer outcome is too rare for them."
    if best is not None:
        words += (
            " You chose it by looking at these rows, so certify it with fresh ones, or with these and "
            f"--delta {at_least(best.each)}."
        )
    return words


def _four_digits(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def noise_costs_picture(costs: NoiseCosts, ax: Axes | None = None) -> Figure:
    """AUROC of the perturbed scores, and below it the certified upper bound, against the size of the noise.

    How to read it: more noise buys a smaller bound, up to a point, and costs ranking. Choose the most whose loss of
    AUROC you can spare; hollow marks are bandwidths too large for rare events.
    """
    with axes_for(ax, (WIDTH, 4.2)) as axes:
        below = axes_below(axes, 0.5)
        axes.axhline(costs.auroc, color=INK, ls=":", lw=1.2, label="current scores")
        for name, colour, line in (("odds", BLUE, "-"), ("bandwidth", RED, "--")):
            rows = [row for row in costs.rows if row.noise.keyword == name]
            size, fill = [row.noise.size for row in rows], [colour if row.fits_rare_events else "none" for row in rows]
            for panel, values, label in (
                (axes, [row.auroc for row in rows], f"perturbed, {name}"),
                (below, [row.upper for row in rows], f"certified, all of {name} together"),
            ):
                panel.plot(size, values, color=colour, ls=line, lw=1.3, zorder=1)
                panel.scatter(size, values, 28, facecolors=fill, edgecolors=colour, zorder=2)
                if rows:
                    panel.plot([], [], color=colour, ls=line, marker="o", ms=5, label=label)
        if not all(row.fits_rare_events for row in costs.rows):
            below.scatter([], [], 28, facecolors="none", edgecolors=RED, label="too large for the rarer label")
        axes.legend(loc="lower left")
        below.legend(loc="best")
        axes.set_xscale("log", base=2)
        axes.set_ylabel("AUROC (estimate)")
        axes.set_title("What noise costs and buys", loc="left")
        highest = 1.12 * max(row.upper for row in costs.rows)
        below.set(ylim=(0, highest), ylabel="error, at most", xlabel="odds or bandwidth")
        below.xaxis.set_major_formatter(lambda value, _: fraction(value))
        return figure_of(axes)
