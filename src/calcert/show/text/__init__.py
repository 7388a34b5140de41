"""Results as text: a view for a rich console, by kind; of those that are blocks, that of their blocks."""

from collections.abc import Callable

from rich.console import RenderableType

from calcert.show.text.classes import classes_view
from calcert.show.text.groups import groups_view
from calcert.show.text.monitor import status_view

VIEWS: dict[str, Callable[..., RenderableType]] = {
    "groups": groups_view,
    "classes": classes_view,
    "status": status_view,
}
