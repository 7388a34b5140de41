"""What is filed beside a result, as text: what people said of it, what was read, and the fingerprint of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from calcert.foundation.escaped_text import visible
from calcert.foundation.number_text import rows_text

if TYPE_CHECKING:
    from calcert.foundation.facts import Facts


def filed_lines(facts: Facts, fingerprint: str | None) -> list[Text]:
    """Lines to stand under the result."""
    lines = [f"{name[:1].upper()}{name[1:]}: {said}" for name, said in facts.said.items()]
    shown = [
        f"{file.name} ({'' if file.rows is None else f'{rows_text(file.rows)}, '}SHA-256 {file.sha256[:16]}...)"
        for file in facts.files[:3]
    ]
    if len(facts.files) > 3:
        shown.append(f"{len(facts.files) - 3:,} more files")
    if shown:
        lines.append(f"Read from {', '.join(shown)}" + "".join(f"; {n} {c}" for n, c in facts.columns.items()) + ".")
    lines += [*facts.reading, *([facts.left_out] if facts.left_out else [])]
    if fingerprint is not None:
        lines.append(f"Fingerprint of the rows: {fingerprint}.")
    return [Text(visible(line), style="dim") for line in lines]
