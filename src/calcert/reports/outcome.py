"""What a gate found: the bound that decides, whether it passes, and why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from calcert.certificates.certificate import Certificate
from calcert.certificates.observed_over_expected import Ratio
from calcert.foundation.escaped_text import visible
from calcert.foundation.result import Result
from calcert.reports.settings import Settings
from calcert.reports.verdict import Verdict, judge, judge_prudence, judge_ratio
from calcert.summary.summary import Summary

PRUDENCE = "observed of expected"


@dataclass(frozen=True)
class Outcome:
    """What :func:`calcert.check` returns.

    Attributes
    ----------
    certificate
        What was judged: of all rows, of the worst group, or of a class; or observed over expected.
    max
        The largest error that passes, or the largest observed over expected, one over it being the smallest.
    statement, settings
        Which error it is, and what was fixed beforehand.
    rows
        How many rows there are.
    summary
        Of the rows whose bound decides; None for a mean over classes.
    group, class_
        The name of the group or class that they are, if any.
    doubt
        Why rows should not pass whatever the bound: they agree with the scores better than fresh rows can.
    fitted_on_other_rows
        True where the caller has overruled that.
    too_few
        That rows are fewer than a policy asks for; empty where they are not.
    about
        What was demanded, in words.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(5_000)
    >>> calcert.check(x, rng.random(5_000) < x, max=0.05).passed
    True
    """

    certificate: Certificate | Ratio
    max: float
    statement: str
    settings: Settings
    rows: int
    summary: Summary | None
    certify: Callable[[], Result]
    group: str | None = None
    class_: str | None = None
    doubt: str = ""
    fitted_on_other_rows: bool = False
    too_few: str = ""
    about: str = ""

    @property
    def is_small(self) -> bool:
        """True where the bound is at most `max`; of a ratio, where both are."""
        c = self.certificate
        two_sided = isinstance(c, Ratio) and self.statement != PRUDENCE
        return c.upper <= self.max and not (two_sided and c.lower < 1 / self.max)

    @cached_property
    def verdict(self) -> Verdict:
        """Within, beyond or cannot tell yet, and what to do next, as in :attr:`calcert.Report.verdict`."""
        whose = "" if self.class_ is None else f" for the class {visible(self.class_)} (the largest bound)"
        if self.group is not None:
            whose = f" of the group {visible(self.group)} (the largest bound)"
        if isinstance(self.certificate, Ratio):
            if self.statement != PRUDENCE:
                return judge_ratio(self.certificate, self.max)
            return judge_prudence(self.certificate, self.max, whose.replace(" of ", " in ", 1))
        return judge(self.certificate, self.max, self.statement, self.settings, self.summary, whose=whose)

    @property
    def refused_as(self) -> str:
        """The doubt that counts; empty where there is none, or it was overruled."""
        return "" if self.fitted_on_other_rows else self.doubt

    @property
    def passed(self) -> bool:
        """True where the error is certified to be at most `max`, and nothing speaks against the rows."""
        return self.is_small and not self.refused_as and not self.too_few

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it did not pass, and what to do about it; empty where it passed."""
        doubt = tuple(filter(None, (self.refused_as, self.too_few)))
        return doubt if self.is_small else (*doubt, self.verdict.sentence, f"Next: {self.verdict.next}")

    @cached_property
    def report(self) -> Result:
        """All statements of the same rows, groups or classes; computed when first asked for."""
        return self.certify()
