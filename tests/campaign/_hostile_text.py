"""Texts of tables, written in every way there is, and what spoils them."""

from __future__ import annotations

import gzip
import json
import random

SCORES = ["0", "1", "0.5", "0.1", ".25", "1.", "5e-1", "1e-300", "2.5E-320", "1e-400", "0.30000000000000004", "+0.75"]
SCORES += ["-0.0", "0.1234567890123456789012345678901234567890", "0.99999999999999994448884876874217606030631"]
LABELS = ["0", "1", "1.0", "0.0", "true", "false", "True", "FALSE", "1e0", "00", "0e5"]
NO_SCORES = ["", " ", "nan", "1.5", "-1e-9", "inf", "1e400", "0,5", "0_5", "5%", "high", "1e", "0x1", "True", '"', "١"]
NO_LABELS = ["", "0.7", "2", "-1", "yes", "t", "nan", "1e-300", "0.9999999999999999", "9007199254740993", "1 0", "None"]
NOTES = ["", "x", "p,y", 'say "no"', "two\nlines", "a\r\nb", ";|\t,", "0.9,1\n0.8,0", "é", "\u2028", "#", '5" pipe']
ENDS = ["\n", "\r\n", "\r"]
SPOILING = ['"', ",", "\n", "\r", "\0", "\x1a", ";", "0.9", "p,y\n", "p,y,z\n", "#x\n", "\ufeff", "[", "}", "\\", "-"]

LATE_IN_CSV = [f"0.5,{label}\n" for label in NO_LABELS] + [f"{score},1\n" for score in NO_SCORES]
LATE_IN_CSV += ["p,y,z\n0.5,0,3\n", "p,y\n0.5,0\n", "0.5\n", "0.5,1,\n", "# remark\n", '0.5,"1\n', '0.5,"1"0\n', " \n"]

NO_JSON_LABELS = ["0.7", "2", "null", '"1"', "-1", "[1]", "9007199254740993"]
NO_JSON_SCORES = ["1.5", '"0.5"', "true", "NaN", "null", "{}", "1e999", "1" * 400]
LATE_IN_JSON = [f'{{"p": 0.5, "y": {label}}}' for label in NO_JSON_LABELS]
LATE_IN_JSON += [f'{{"p": {score}, "y": 1}}' for score in NO_JSON_SCORES]
LATE_IN_JSON += ['{"p": 0.5, "p": 0.5, "y": 1}', '{"p": 0.5}', '{"P": 0.5, "y": 1}', '{"p": 0.5, "\\u0079": 1}']
LATE_IN_JSON += ['{"p": 0.5, "y": 1} {"p": 0.5, "y": 1}', '{"p": 0.5, "y": 1', "null", "[]"]
DEEP = "[" * 3000 + "]" * 3000
LATE_IN_JSON += [f'{{"p": 0.5, "y": 1, "z": {DEEP}}}']


def csv_text(chance: random.Random, rows: int) -> str:
    """A CSV file with nothing wrong."""
    delimiter, end = chance.choice(",;\t|"), chance.choice(ENDS)
    names = ["p", "y", *chance.sample(["id", "note", "q", "p 1", "name of it"], chance.randrange(4))]
    chance.shuffle(names)
    always = chance.random() < 0.3
    lines = [names]
    for row in range(rows):
        values = {"p": chance.choice(SCORES), "y": chance.choice(LABELS), "id": str(row)}
        if rows > 100 and row < rows - 5:
            values |= {"p": "0.5", "y": "1"}
        lines.append([values.get(name, chance.choice(NOTES)) for name in names])
    text = "\ufeff" if chance.random() < 0.2 else ""
    for line in lines:
        text += delimiter.join(cell(value, delimiter, always) for value in line) + end
        text += end if chance.random() < 0.1 else ""
    return text.removesuffix(end) if chance.random() < 0.3 else text


def cell(value: str, delimiter: str, always: bool) -> str:
    """A value of CSV, in quotes where it needs them."""
    needed = value.startswith('"') or any(letter in value for letter in (delimiter, "\n", "\r"))
    return '"' + value.replace('"', '""') + '"' if always or needed else value


def delimiter_of(content: bytes) -> str:
    """What separates the names of the columns; those here have no such character in them."""
    first = content.decode("utf-8-sig", "surrogateescape").lstrip("\r\n").replace("\r", "\n").split("\n")[0]
    return max(",;\t|", key=first.count)


def json_text(chance: random.Random, rows: int) -> str:
    """JSON lines, or an array, with nothing wrong."""
    objects = []
    for _ in range(rows):
        score = chance.choice(["0", "1", "0.5", "1e-300", "2.5E-320", "1e-400", "0.30000000000000004", "-0.0", "0.1e1"])
        label = chance.choice(["0", "1", "1.0", "0.0", "true", "false", "1e0", "10e-1"])
        pairs = [f'"p": {chance.choice([score, repr(chance.random())])}', f'"y":{label}']
        for number in range(chance.randrange(3)):
            note = json.dumps(chance.choice(NOTES))
            inner = chance.choice(['{"p": 7, "p": 8}', "[1, [2]]", "null", note, "1e999", "NaN"])
            pairs.append(f'"{chance.choice(["z", "note", f"n{number}"])}": {inner}')
        chance.shuffle(pairs)
        objects.append("{" + chance.choice([", ", ","]).join(pairs) + "}")
    end = chance.choice(["\n", "\r\n", "\n\n", " \n \t\n"])
    if chance.random() < 0.2:
        return chance.choice(["", "\ufeff", "\n "]) + "[" + f",{end}".join(objects) + "]" + chance.choice(["", "\n"])
    return chance.choice(["", "", "\ufeff"]) + end.join(objects) + chance.choice(["", end])


def is_array(content: bytes) -> bool:
    """True where JSON is one array."""
    return content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def spoiled(chance: random.Random, content: bytes) -> bytes:
    """Some bytes taken away, put in, turned, repeated, or the end cut off."""
    found = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        place = chance.randrange(len(found) + 1)
        how = chance.randrange(5)
        if how == 0:
            del found[place : place + chance.choice([1, 1, 2, 10])]
        elif how == 1:
            found[place:place] = chance.choice(SPOILING).encode()
        elif how == 2 and place < len(found):
            found[place] ^= 1 << chance.randrange(8)
        elif how == 3:
            start = chance.randrange(len(found) + 1)
            found[place:place] = found[start : start + chance.randrange(30)]
        elif how == 4 and chance.random() < 0.3:
            del found[place:]
    return bytes(found)


def packed(chance: random.Random, content: bytes, name: str) -> bytes:
    """Compressed where the name says so, in one part or two."""
    if not name.endswith(".gz"):
        return content
    cut = chance.choice([0, chance.randrange(len(content) + 1)])
    return gzip.compress(content[:cut]) + gzip.compress(content[cut:])


def plain(content: bytes, name: str) -> bytes:
    """The inverse of `packed`."""
    return gzip.decompress(content) if name.endswith(".gz") else content
