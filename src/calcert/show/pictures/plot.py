"""Pictures of results (matplotlib). They show numbers computed elsewhere and compute no bound.

Every function draws on the caller's `ax` in the caller's style, or on a new figure in ours, and returns the axes. No
global state of pyplot is touched, so pictures work on servers and in threads; save one with ``ax.figure.savefig``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from calcert.foundation.numbers import at_most, fraction, given, percent_sure, rows_about
from calcert.reports.estimates import score_quantiles
from calcert.show import words
from calcert.show.pictures.canvas import Picture, axes_below, axes_for, figure_of
from calcert.show.pictures.palette import BLUE, FAINT, INK, RED, STYLE, TERMS
from calcert.show.requirements import needed_for_reports
from calcert.summary.counts import Summary

with needed_for_reports():
    import matplotlib
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.ticker import FuncFormatter
    from matplotlib.transforms import offset_copy

if TYPE_CHECKING:
    from calcert.certificates.band import CalibrationBand
    from calcert.reports.bandwidths import BandwidthCosts
    from calcert.reports.plan import Plan
    from calcert.reports.report import Report
    from calcert.serving.noise import Noise

Floats = NDArray[np.float64]

STRETCHES = 400
"""Steps of the band in a picture: finer than a pixel on a page, and a small file."""

VISIBLE = 0.005
"""A term that is a smaller share of its bar is no wider than its edge."""


def report_picture(report: Report, ax: Axes | tuple[Axes, Axes] | None = None) -> Figure:
    """The reliability picture with the terms of the bounds beside it, or each on axes of the caller's.

    One `ax` takes the reliability picture alone; a pair takes both.
    """
    if ax is None:
        with matplotlib.rc_context(STYLE):
            figure = Picture(figsize=(9.6, 5.0), layout="constrained")
            left, right = figure.subplots(1, 2, width_ratios=(1, 0.9))
            reliability(report, left)
            terms(report, right)
            return figure
    if isinstance(ax, Axes):
        return figure_of(reliability(report, ax))
    first, second = ax
    terms(report, second)
    return figure_of(reliability(report, first))


def reliability(report: Report, ax: Axes | None = None) -> Axes:
    """The calibration curve of the perturbed classifier in its band, over the densities of both labels.

    How to read it: the curve is the estimated chance of label 1 at each served score; a calibrated classifier lies on
    the dashed diagonal. The band holds the true curve everywhere at once, with probability at least 1 - delta: where it
    leaves the diagonal outside, the classifier is off there. Below: where the served scores of either label are.

    Parameters
    ----------
    report
        What :func:`calcert.certify` returned.
    ax
        Axes to draw on; those of a new figure where left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5000)
    >>> ax = reliability(calcert.certify(x, rng.random(5000) < x))
    >>> print(ax.get_title(loc="left"))
    Calibration error, served with perturbed scores:
    certified at most 0.0245
    """
    title = f"Calibration error, served with perturbed scores:\ncertified {words.interval(report.perturbed)}"
    return _band_on(ax, report.band, _shown_scores(report.summary, report.settings.noise), title)


def band_picture(band: CalibrationBand, ax: Axes | None = None) -> Figure:
    """The same of a band without its report."""
    return figure_of(_band_on(ax, band, (0.0, 1.0), "Chance of label 1 given the served score"))


def _band_on(ax: Axes | None, band: CalibrationBand, shown: tuple[float, float], title: str) -> Axes:
    with axes_for(ax, "reliability") as axes:
        # Thin only what is shown, or a picture of rare events would be a few coarse steps.
        part = band.thinned(STRETCHES, shown)
        _draw_band(axes, part)
        axes.set_title(title, loc="left")
        _draw_densities(axes_below(axes, 0.25), part)
        axes.set_xlim(shown)
        axes.set_ylim(shown[0], max(shown[1], min(1.2 * _largest_usual(part), 1.0)))
        return axes


def _shown_scores(summary: Summary | None, noise: Noise) -> tuple[float, float]:
    """All scores, or where they fill less than half of [0, 1] the stretch that 99% of them fill."""
    assert summary is not None  # Or there would be no band.
    low, high = score_quantiles(summary, (0.005, 0.995)).values()
    margin = 2 * float(noise.mean_shift([low, high]).max()) + 0.05 * (high - low)
    low, high = max(low - margin, 0.0), min(high + margin, 1.0)
    if high - low > 0.5:
        return 0.0, 1.0
    return (0.0 if low < 0.2 * high else low), (1.0 if 1 - high < 0.2 * (1 - low) else high)


def _largest_usual(band: CalibrationBand) -> float:
    """The chance of label 1 that the estimate exceeds for one row in two hundred."""
    known = ~np.isnan(band.estimate)
    weights = (band.negative + band.positive)[known]
    return float(np.quantile(band.estimate[known], 0.995, weights=weights, method="inverted_cdf"))


def _draw_band(axes: Axes, band: CalibrationBand) -> None:
    label = f"{percent_sure(band.delta)} band, everywhere at once"
    axes.stairs(band.upper, band.edges, baseline=band.lower, fill=True, color=BLUE, alpha=0.22, lw=0, label=label)
    for edge in (band.lower, band.upper):
        axes.stairs(edge, band.edges, baseline=None, color=BLUE, lw=0.6)
    axes.plot(band.t, band.estimate, color=BLUE, lw=1.8, label="estimate, no guarantee")
    axes.plot((0, 1), (0, 1), color=INK, lw=1.0, ls=(0, (5, 3)), label="perfect calibration")
    axes.set_ylabel("chance of label 1")
    axes.legend(loc="upper left")


def _draw_densities(axes: Axes, band: CalibrationBand) -> None:
    """Both labels, each to its own peak: the rarer one would else be a flat line."""
    for label, density, colour, line in (
        ("label 0", band.negative, FAINT, "--"),
        ("label 1", band.positive, RED, "-"),
    ):
        height = density / max(float(density.max()), 1e-300)
        axes.fill_between(band.t, height, color=colour, alpha=0.18, lw=0)
        axes.plot(band.t, height, color=colour, ls=line, lw=1.3, label=label)
    axes.set_ylim(0, 1.45)
    axes.set_yticks([])
    axes.set_ylabel("density")
    axes.set_xlabel("served score")
    axes.legend(loc="upper center", ncols=2)


def terms(report: Report, ax: Axes | None = None) -> Axes:
    """What each upper bound is made of, as stacked bars, with the lower bound as a mark.

    How to read it: the whole bar is what is certified. The plug-in is what the rows show; everything after it is the
    price of certainty. More rows shrink plug-in noise, sampling and group bias; recalibrating shrinks the rest.

    Parameters
    ----------
    report
        What :func:`calcert.certify` returned.
    ax
        Axes to draw on; those of a new figure where left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5000)
    >>> ax = terms(calcert.certify(x, rng.random(5000) < x))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['distance', 'ranges', 'crossings', 'as it is', 'perturbed']
    """
    with axes_for(ax, "terms") as axes:
        certificates, names = list(report.certificates.values()), list(report.certificates)
        for row, c in enumerate(certificates):
            reached = 0.0
            for name, (colour, hatch) in TERMS.items():
                width = c.terms.get(name, 0.0)
                if width > 0:
                    axes.barh(row, width, 0.55, left=reached, color=colour, hatch=hatch, edgecolor=INK, lw=0.5)
                    reached += width
            end = (min(reached, c.upper), row)
            axes.annotate(at_most(c.upper), end, (4, 0), textcoords="offset points", va="center")
            if c.lower > 0:
                axes.plot((c.lower, c.lower), (row - 0.36, row + 0.36), color=INK, lw=2.2, solid_capstyle="butt")
        axes.set_yticks(range(len(certificates)), [words.STATEMENTS[name].short for name in names])
        axes.invert_yaxis()
        axes.set_xlim(0, 1.18 * max(c.upper for c in certificates))
        axes.set_xlabel("certified at most")
        axes.set_title("What the upper bounds are made of", loc="left")
        _term_legend(axes, {name for c in certificates for name, value in c.terms.items() if value > VISIBLE * c.upper})
        return axes


def _term_legend(axes: Axes, present: set[str]) -> None:
    """A legend below the axes; terms too thin to be seen are left out."""
    handles: list[Artist] = [
        Patch(facecolor=colour, hatch=hatch, edgecolor=INK, lw=0.5, label=name)
        for name, (colour, hatch) in TERMS.items()
        if name in present
    ]
    handles.append(Line2D([], [], color=INK, lw=2.2, label="certified at least"))
    under_label = offset_copy(axes.transAxes, figure_of(axes), y=-34, units="points")
    axes.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=under_label, ncols=3, frameon=False
    )


def against_n(wanted: Plan, ax: Axes | None = None) -> Axes:
    """How the bounds would go with the number of rows: estimates, and the bounds certified now.

    How to read it: the lines are estimates, the two large marks are certified. Where the upper line meets the dotted
    target is about how many rows it takes.

    Parameters
    ----------
    wanted
        What :func:`calcert.plan` returned.
    ax
        Axes to draw on; those of a new figure where left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5000)
    >>> ax = against_n(calcert.plan(calcert.summarize(x, rng.random(5000) < x), 0.02))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('rows', 'L1 calibration error')
    """
    with axes_for(ax, "against_n") as axes:
        axes.plot(wanted.sizes, wanted.uppers, color=BLUE, marker="o", ms=3.5, label="at most (estimate)")
        axes.plot(wanted.sizes, wanted.lowers, color=RED, marker="s", ms=3.5, ls="--", label="at least (estimate)")
        now = (wanted.now.n, wanted.now.n), (wanted.now.lower, wanted.now.upper)
        axes.plot(*now, color=INK, marker="D", ms=6, ls="none", label="certified now")
        axes.axhline(wanted.target, color=INK, ls=":", lw=1.2, label=f"target {given(wanted.target)}")
        if wanted.rows is not None:
            axes.axvline(wanted.rows, color=FAINT, ls=":", lw=1.2)
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("rows")
        axes.set_ylabel(wanted.now.quantity)
        found = "no number of rows" if wanted.rows is None else f"about {rows_about(wanted.rows)} rows"
        axes.set_title(f"At most {given(wanted.target)} takes {found} (estimate)", loc="left")
        axes.legend(loc="best")
        return axes


def plan_picture(wanted: Plan, ax: Axes | None = None) -> Figure:
    """The bounds against the number of rows."""
    return figure_of(against_n(wanted, ax))


def bandwidths_picture(costs: BandwidthCosts, ax: Axes | None = None) -> Figure:
    """What bandwidths cost and buy."""
    return figure_of(against_bandwidth(costs, ax))


def against_bandwidth(costs: BandwidthCosts, ax: Axes | None = None) -> Axes:
    """AUROC of the perturbed scores, and below it the certified upper bound, against the bandwidth.

    How to read it: a larger bandwidth buys a smaller bound and costs ranking. Choose the largest whose loss of AUROC
    you can spare; hollow marks are too large for rare events.

    Parameters
    ----------
    costs
        What :func:`calcert.bandwidth_costs` returned.
    ax
        Axes to draw on; those of a new figure where left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5000)
    >>> ax = against_bandwidth(calcert.bandwidth_costs(calcert.summarize(x, rng.random(5000) < x), [1/64, 1/32]))
    >>> ax.get_ylabel()
    'AUROC (estimate)'
    """
    with axes_for(ax, "against_bandwidth") as axes:
        below = axes_below(axes, 0.5)
        h = [row.bandwidth for row in costs.rows]
        fill = [BLUE if row.fits_rare_events else "none" for row in costs.rows]
        axes.axhline(costs.auroc, color=INK, ls=":", lw=1.2, label="as they are")
        for panel, values, label in (
            (axes, [row.auroc for row in costs.rows], "perturbed"),
            (below, [row.upper for row in costs.rows], "certified, all together"),
        ):
            panel.plot(h, values, color=BLUE, lw=1.3, zorder=1)
            panel.scatter(h, values, 28, facecolors=fill, edgecolors=BLUE, zorder=2)
            panel.plot([], [], color=BLUE, marker="o", ms=5, label=label)
        if not all(row.fits_rare_events for row in costs.rows):
            below.scatter([], [], 28, facecolors="none", edgecolors=BLUE, label="too large for the rarer label")
        axes.legend(loc="lower left")
        below.legend(loc="lower left")
        axes.set_xscale("log", base=2)
        axes.set_ylabel("AUROC (estimate)")
        axes.set_title("What a bandwidth costs and buys", loc="left")
        below.set_ylim(0, 1.12 * max(row.upper for row in costs.rows))
        below.set_ylabel("error, at most")
        below.set_xlabel("bandwidth")
        below.xaxis.set_major_formatter(FuncFormatter(lambda value, _: fraction(value)))
        return axes
