"""Text that would be obeyed instead of read is shown as an escape."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import pytest

from calcert.foundation.escaped_text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("größer 日本 🙂 👩‍👩‍👧", "größer 日本 🙂 👩‍👩‍👧"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\rb\nc\td", "a\\rb\\nc\\td"),
        ("\x07\x08\x00\x7f\x9b", "\\x07\\x08\\x00\\x7f\\x9b"),
        ("user\u202egpj.exe", "user\\u202egpj.exe"),
        ("\u2066\u2028\u200f", "\\u2066\\u2028\\u200f"),
        ("\udc80", "\\udc80"),
        ("\ufffe\uffff", "\\ufffe\\uffff"),
    ],
)
def test_what_is_obeyed_is_escaped_and_what_is_read_is_kept(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(visible(text)) == shown


def test_lines_of_a_message_are_kept_where_they_are_wanted() -> None:
    assert visible("one\ntwo\x1b", keep="\n") == "one\ntwo\\x1b"


def test_every_character_is_fit_for_xml_and_utf_8_afterwards() -> None:
    text = "".join(map(chr, range(sys.maxunicode + 1)))
    element = ElementTree.Element("text")
    element.text = visible(text, keep="\n")
    assert ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8")).text == element.text


def test_nothing_that_moves_a_cursor_is_left() -> None:
    text = visible("".join(map(chr, range(0x3000))))
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in text)
