"""Advice for Python turned into advice for a command line: what the library says, with options for arguments."""

from __future__ import annotations

import re

SHELL_WORDS = {
    "Pass score='...' and label='...'.": "Pass --score COLUMN and --label COLUMN.",
    "Pass score='...'.": "Pass --score COLUMN.",
    "For log-probabilities pass numpy.exp(scores), for logits scipy.special.expit(scores).": (
        "If they are log-probabilities, write exp(score) to the file; if they are logits, 1/(1 + exp(-score))."
    ),
    "For logits pass scipy.special.expit(scores).": "If they are logits, write 1/(1 + exp(-score)) to the file.",
    "for logits pass scipy.special.expit(scores).": "if they are logits, write 1/(1 + exp(-score)) to the file.",
    "Summarise them apart and add the summaries with +.": "Certify them apart.",
    "are the two arguments swapped? Call certify(scores, labels).": "are --score and --label swapped?",
    "For names pass class_names=[...], in": "For names pass --class-names, with commas between them, in",
    " pass labels ": " write labels ",
    "round on purpose: numpy.round(values / unit) * unit.": "round them in the file, on purpose.",
}

SPELLING_WORDS = {
    "For percentages pass scores / 100.": "If they are percentages, pass --percent.",
    "Write decimal points, not commas.": "For decimal commas pass --decimal , (a comma).",
    "Drop such rows yourself, on purpose:": "To leave such rows out, on purpose, pass --drop-missing:",
    "Drop or impute such rows yourself, on purpose:": "To leave such rows out, on purpose, pass --drop-missing:",
    "For one class against the rest pass labels == positive_class.": "For one label against the rest pass --positive.",
    "For -1/+1 labels pass labels > 0.": "For -1/+1 labels pass --positive 1.",
    "pass soft_labels=True.": "pass --soft-labels.",
    " pass labels == ": " pass --positive ",
    "positive must be a label of": "--positive must be a label of",
}
"""Advice that names options which every command has that reads rows with their labels."""

NO_LABELS = {"For percentages pass scores / 100.": "If they are percentages, write score/100 to the file."}
"""And for perturb, which copies scores as they are."""

EACH_APART = re.compile(r"calcert\.certify\(\.\.\., \w+=\.\.\., confidence=1 - delta / number\)\.")

ARGUMENT = re.compile(
    r"(?<![-\w'\"])(largest_weight|largest_gain|weight_unit|soft_labels|pair_sums|smallest_group|encoding(?==))\b(=?)"
)
"""Arguments that are options of the same name."""

NOT_UTF_8 = re.compile(r"[\udc80-\udcff]|\\udc[89a-f][0-9a-f]")
LEFT_OUT = re.compile(r"If (['\"])(.*)\1 stands for a missing value, leave such rows out, on purpose\.")
LABELS_IN_WORDS = re.compile(r"For labels in words pass labels == '[^']*'\.")


def in_shell_words(message: str, *, labels: bool = True) -> str:
    """A message of the library with its advice for Python turned into advice for a command line.

    `labels` is False for a command that reads none.
    """
    if labels:
        # In double quotes, which shells of every system take away.
        message = LEFT_OUT.sub(r'If it stands for a missing value, pass --drop-missing --missing "\2".', message)
    message = LABELS_IN_WORDS.sub("For labels in words pass --positive and the one that means 1.", message)
    for python, shell in ((SPELLING_WORDS if labels else NO_LABELS) | SHELL_WORDS).items():
        message = message.replace(python, shell)
    message = EACH_APART.sub("with --confidence 1 - delta / number.", message)
    message = ARGUMENT.sub(lambda found: f"--{found[1].replace('_', '-')}{' ' if found[2] else ''}", message)
    odd = NOT_UTF_8.search(message) and "--encoding" not in message
    return f"{message} Some text in it is not UTF-8: pass --encoding, or save it as CSV UTF-8." if odd else message
