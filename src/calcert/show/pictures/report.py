"""The picture of a report: the calibration curve in its band, and what the bounds are made of.

It shows numbers computed elsewhere and computes no bound. It draws on the caller's `ax` in the caller's style, or on a
new figure in ours. No global state of pyplot is touched, so it works on servers and in threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calcert.foundation.number_text import percent_sure
from calcert.foundation.requirements import needed_for_reports
from calcert.show import certificate_words as words
from calcert.show.pictures.canvas import STYLE, Picture, figure_of
from calcert.show.pictures.curve_as_it_is import curve_as_it_is
from calcert.show.pictures.served_band import draw_band, shown_scores
from calcert.show.pictures.terms import terms

with needed_for_reports():
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from calcert.reports.report import Report


def report_picture(report: Report, ax: Axes | tuple[Axes, Axes] | None = None, *, curve: str = "served") -> Figure:
    """The reliability picture with the terms of the bounds beside it, or each on axes of the caller's.

    One `ax` takes the reliability picture alone; a pair takes both.
    """
    if report.summary is not None and not report.has_band:
        # The band of units is too wide to be drawn unasked: there is only what the bounds are made of.
        return figure_of(terms(report, ax[1] if isinstance(ax, tuple) else ax))
    draw = curve_as_it_is if curve == "as it is" else reliability
    if ax is None:
        with matplotlib.rc_context(STYLE):
            figure = Picture(figsize=(9.6, 5.0), layout="constrained")
            left, right = figure.subplots(1, 2, width_ratios=(1, 0.9))
            draw(report, left)
            terms(report, right)
            return figure
    if isinstance(ax, Axes):
        return figure_of(draw(report, ax))
    first, second = ax
    terms(report, second)
    return figure_of(draw(report, first))


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
    certified at most 0.0299
    """
    title = f"Calibration error, served with perturbed scores:\ncertified {words.interval(report.perturbed)}"
    return draw_band(ax, report.band, shown_scores(report.summary, report.settings.noise), title)


def reliability_description(report: Report) -> str:
    """The reliability picture for somebody who cannot see it."""
    c = report.perturbed
    return (
        f"Estimated chance of label 1 against the served score, with a {percent_sure(c.delta)} simultaneous band and "
        f"the diagonal of perfect calibration; {c.n:,} rows. The calibration error is certified {words.interval(c)}."
    )
