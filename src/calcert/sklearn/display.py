"""scikit-learn's picture of calibration with what is certain of it: the band of the curve, and a certificate."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.calibration import CalibrationDisplay

from calcert.foundation.number_text import at_least, at_most, percent_sure
from calcert.reports.certify import certify
from calcert.reports.report import Report
from calcert.reports.settings import Settings
from calcert.sources.arrays import check_indexes, positives


class CertifiedCalibrationDisplay(CalibrationDisplay):  # type: ignore[misc]
    """scikit-learn's calibration display, in the certified band of the curve, with the certified distance.

    Made and used as ``sklearn.calibration.CalibrationDisplay``: ``from_estimator(estimator, X, y)`` and
    ``from_predictions(y_true, y_prob)`` take the same arguments, and those of :func:`calcert.certify` that are fixed
    before the rows are seen: `confidence`, `crossings`, `variation` and `seed`. The rows must not have been used to
    train, select or recalibrate the classifier.

    The line through the bins is an estimate without guarantee. The band holds the true curve simultaneously with
    probability `confidence`, if the probability of the positive class never falls as the score rises; up to 40 distinct
    scores have limits of their own instead, which assume nothing. Where rows refute such a probability there is no
    band.

    Attributes
    ----------
    report_
        What :func:`calcert.certify` says of the rows.
    band_
        What was drawn for the band; None where the rows refute what it assumes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from calcert.sklearn import CertifiedCalibrationDisplay
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(10_000)
    >>> display = CertifiedCalibrationDisplay.from_predictions(rng.random(10_000) < x, x, n_bins=10, name="model")
    >>> print(round(display.report_.distance.upper, 3), display.band_.get_label())
    0.013 model: at most 0.0127 from calibration
    95% band, if the probability never falls
    """

    report_: Report | None = None
    band_: Any = None

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        n_bins: int = 5,
        strategy: str = "uniform",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        ref_line: bool = True,
        confidence: float = 0.95,
        crossings: int = 3,
        variation: float | None = None,
        seed: int = 0,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of some scores; arguments as in the class of scikit-learn, and those of ``certify``."""
        check_indexes(y_true=y_true, y_prob=y_prob)
        labels = None if pos_label is None else positives("y_true", y_true, pos_label)
        found: Self = super().from_predictions(
            y_true,
            y_prob,
            n_bins=n_bins,
            strategy=strategy,
            pos_label=pos_label,
            name=name,
            ax=ax,
            ref_line=ref_line,
            **kwargs,
        )
        if labels is None:  # scikit-learn has refused labels of which 1 is not the positive one.
            labels = np.asarray(y_true) == 1
        settings = Settings(confidence, crossings=crossings, variation=variation, seed=seed)
        found.report_ = certify(y_prob, labels, settings=settings)
        found._draw_band(found.estimator_name)
        return found

    def plot(self, *, ax: Any = None, name: str | None = None, ref_line: bool = True, **kwargs: Any) -> Self:
        """Draw it again; arguments as in the class of scikit-learn."""
        super().plot(ax=ax, name=name, ref_line=ref_line, **kwargs)
        self._draw_band(self.estimator_name if name is None else name)
        return self

    def _draw_band(self, name: str | None) -> None:
        if self.report_ is None:  # While scikit-learn draws, before the rows are certified.
            return
        distance, colour = self.report_.distance, self.line_.get_color()
        curve: Any = self.report_.curve
        sure = percent_sure(distance.delta)
        low, each = (f"at least {at_least(distance.lower)}, ", f", {sure} each") if distance.lower > 0 else ("", "")
        said = f"{low}at most {at_most(distance.upper)} from calibration{each}"
        said = said if name is None else f"{name}: {said}"
        sure = percent_sure(curve.delta)
        if curve.kind == "score table":
            label = f"{said}\n{sure} limits, all together"
            self.band_ = self.ax_.vlines(curve.score, curve.lower, curve.upper, color=colour, alpha=0.5, label=label)
        elif curve.refuted_at is None:
            label = f"{said}\n{sure} band, if the probability never falls"
            self.band_ = self.ax_.stairs(
                curve.upper[1:],
                curve.edges,
                baseline=curve.lower[:-1],
                fill=True,
                color=colour,
                alpha=0.2,
                lw=0,
                label=label,
            )
        else:
            self.band_ = None
            self.ax_.plot([], [], " ", label=f"{said}\nno band: rows show a probability that falls")
        self.ax_.legend(loc="upper left", fontsize="small")
