"""The calibration curve of perturbed scores in its band, over the densities of both labels, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calcert.foundation.number_text import percent_sure
from calcert.reports.estimates import score_quantiles
from calcert.show import certificate_words as words
from calcert.show.canvas import BLUE, FAINT, ORANGE, RED, axes_below, axes_for, draw_band, draw_diagonal, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calcert.certificates.band import CalibrationBand
    from calcert.perturbation.noise import Noise
    from calcert.reports.report import Report
    from calcert.summary.summary import Summary

STRETCHES = 400
"""Steps of the band in a picture: finer than a pixel on a page, and a small file."""

BINS = 64
"""Of the perturbed scores of either label, below the curve: so wide that a crowded score leaves the others visible."""


def perturbed_curve(report: Report, ax: Axes | None = None) -> Axes:
    """The calibration curve of the perturbed classifier in its band, over the densities of both labels.

    How to read it: the curve is the estimated probability of label 1 at each perturbed score; without error it is the
    dashed diagonal. The band holds the whole true curve, with probability at least 1 - delta: where it
    leaves the diagonal outside, the classifier is off there. A mark next to 0 or 1 is the mean probability there,
    between its limits. Below: where the perturbed scores of either label are.

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
    >>> ax = perturbed_curve(calcert.certify(x, rng.random(5000) < x, settings=calcert.Settings(odds=1 / 16)))
    >>> print(ax.get_title(loc="left"))
    Calibration error of perturbed scores:
    certified at most 0.0297
    """
    title = f"Calibration error of perturbed scores:\ncertified {words.interval(report.perturbed)}"
    return _draw_in_band(ax, report.band, shown_scores(report.summary, report.settings.noise), title)


def perturbed_description(report: Report) -> str:
    """The reliability picture for somebody who cannot see it."""
    c = report.perturbed
    return (
        f"Estimate of label 1 against the perturbed score, with a {percent_sure(c.delta)} simultaneous band and "
        f"the diagonal of perfect calibration; {c.n:,} rows. The calibration error is certified {words.interval(c)}."
    )


def band_picture(band: CalibrationBand, ax: Axes | None = None) -> Figure:
    """The band over all perturbed scores."""
    return figure_of(_draw_in_band(ax, band, (0.0, 1.0), "Probability of label 1 given the perturbed score"))


def shown_scores(summary: Summary | None, noise: Noise) -> tuple[float, float]:
    """All scores, or where they fill less than half of [0, 1], and not one point of it, the stretch of 99% of them."""
    assert summary is not None  # Or there would be no band.
    low, high = score_quantiles(summary, (0.005, 0.995)).values()
    margin = 2 * float(noise.mean_shift([low, high]).max()) + 0.05 * (high - low)
    low, high = max(low - margin, 0.0), min(high + margin, 1.0)
    if not 0 < high - low <= 0.5:
        return 0.0, 1.0
    return (0.0 if low < 0.2 * high else low), (1.0 if 1 - high < 0.2 * (1 - low) else high)


def _draw_in_band(ax: Axes | None, band: CalibrationBand, shown: tuple[float, float], title: str) -> Axes:
    """The band between two perturbed scores; returns the axes of the curve."""
    with axes_for(ax) as axes:
        # Thin only what is shown, or a picture of rare events would be a few coarse steps.
        part = band.thinned(STRETCHES, shown)
        _draw_curve(axes, part)
        _draw_ends(axes, band)
        axes.set_title(title, loc="left")
        _draw_densities(axes_below(axes, 0.25), band.thinned(BINS, shown))
        axes.set_xlim(shown)
        axes.set_ylim(shown[0], max(shown[1], min(1.2 * _largest_usual(part), 1.0)))
        return axes


def _largest_usual(band: CalibrationBand) -> float:
    """The probability of label 1 that the estimate exceeds for one row in two hundred."""
    known = ~np.isnan(band.estimate)
    if not known.any():  # All rows have scores 0 and 1, which are left unperturbed.
        return 1.0
    weights = (band.negative + band.positive)[known]
    return float(np.quantile(band.estimate[known], 0.995, weights=weights, method="inverted_cdf"))


def _draw_curve(axes: Axes, band: CalibrationBand) -> None:
    draw_band(axes, band.edges, band.lower, band.upper, f"{percent_sure(band.delta)} band, simultaneous")
    axes.plot(band.t, band.estimate, color=BLUE, lw=1.8, label="estimate, no guarantee")
    draw_diagonal(axes, (0, 1), "perfect calibration")
    axes.set_ylabel("probability of label 1")


def _draw_ends(axes: Axes, band: CalibrationBand) -> None:
    """The mean probability at perturbed scores next to 0 and 1, where known: a band has no width there."""
    ends = [end for end in band.ends if end.upper - end.lower < 1]
    if ends:
        place, estimate = [round(end.low) for end in ends], np.array([end.estimate for end in ends])
        room = np.abs([[end.lower, end.upper] for end in ends] - estimate[:, None]).T
        label = f"perturbed score within {ends[0].high - ends[0].low:g} of 0 or 1: mean, {percent_sure(band.delta)}"
        axes.errorbar(place, estimate, room, fmt="D", color=ORANGE, ms=5, capsize=4, clip_on=False, label=label)
    axes.legend(loc="upper left")


def _draw_densities(axes: Axes, band: CalibrationBand) -> None:
    """Both labels, each to its own peak: the rarer one would else be a flat line."""
    for label, share, colour, line in (
        ("label 0", band.negative, FAINT, "--"),
        ("label 1", band.positive, RED, "-"),
    ):
        density = share / np.diff(band.edges)
        height = density / max(float(density.max()), 1e-300)
        axes.stairs(height, band.edges, fill=True, color=colour, alpha=0.18, lw=0)
        axes.stairs(height, band.edges, color=colour, ls=line, lw=1.3, label=label)
    axes.set(ylim=(0, 1.45), yticks=[], ylabel="density", xlabel="perturbed score")
    axes.legend(loc="upper center", ncols=2)
