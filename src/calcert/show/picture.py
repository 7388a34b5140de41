"""The figure of results, apart from the canvas: that is read where matplotlib is not installed, too."""

import io

from calcert.foundation.refusal import needed_for_reports

with needed_for_reports():
    from matplotlib.figure import Figure


class Picture(Figure):
    """A figure that a notebook shows by itself."""

    def _repr_svg_(self) -> str:
        target = io.StringIO()
        self.savefig(target, format="svg")
        return target.getvalue()
