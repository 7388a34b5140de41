"""Records are counted as the csv module counts them, wherever the bytes are cut, and strange quotes are noticed."""

from __future__ import annotations

import csv
import io
import itertools

import numpy as np
import pytest

from calcert.kernels.counting import BETWEEN, NO_QUOTES, UNSOUND, count_records
from calcert.sources.files.fast_text import CountedRecords
from tests.as_python import as_python


def counted(content: bytes, cut: int) -> CountedRecords:
    found = CountedRecords(io.BytesIO(content), ",")
    while found.read(cut):
        pass
    return found


@pytest.mark.parametrize("cut", [1, 2, 1000])
def test_all_short_texts_are_counted_as_the_csv_module_counts_them(cut: int) -> None:
    sound = 0
    for letters in itertools.product('a,"\n\r', repeat=6):
        text = "".join(letters)
        found = counted(text.encode(), cut)
        if found.complete:
            sound += 1
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
            assert found.records == len(rows), text
    assert sound > 1000


@pytest.mark.parametrize("text", ['a"b\n', '"a"b\n', '"a\n', 'a,"b""\n', ' "a"\n', '"a" ,b\n'])
def test_quotes_that_are_not_sound_are_noticed(text: str) -> None:
    assert not counted(text.encode(), 2).complete


def test_without_quoting_a_quote_is_a_byte() -> None:
    found = CountedRecords(io.BytesIO(b'{"a": "\n\r\n\n"b'))
    while found.read(8):
        pass
    assert found.records == 2
    assert found.complete


def test_the_kernel_is_what_it_is_in_python() -> None:
    rng = np.random.default_rng(0)
    for delimiter in (ord(","), NO_QUOTES):
        for _ in range(200):
            content = rng.choice(np.frombuffer(b'a,"\n\r', np.uint8), 40, p=[0.4, 0.2, 0.1, 0.2, 0.1])
            for state in range(BETWEEN, UNSOUND + 1):
                assert count_records(content, delimiter, state) == as_python(count_records)(content, delimiter, state)
