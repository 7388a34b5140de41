"""Every example of the documentation does what its page says, and every file that a page names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.executed_pages import Block, blocks, commands, differences, failures, rewritten

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "_build" not in path.parts)
BESIDE = ["README.md", "CONTRIBUTING.md", "SCOPE.md", "CHANGELOG.md"]

SHOWN = {"dockerfile", "text", "sh", "yaml", "toml", "json", "xml", "sql", "html"}
"""Languages that are only shown."""


@pytest.mark.parametrize("page", ["../README.md", *PAGES])
def test_examples_print_what_the_page_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "<BLANKLINE>" not in (DOCS / page).read_text(encoding="utf-8"), "a blank line is one on a page"
    found = failures(DOCS / page, tmp_path)
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_whether_it_runs(page: str) -> None:
    for block in blocks((DOCS / page).read_text(encoding="utf-8")):
        known = block.language in SHOWN | {"python", "console"} or block.language.startswith("{")
        assert known, f"{page}, line {block.line}: a block of {block.language!r} is neither run nor known to be text"
        assert "code-block" not in block.language, f"{page}, line {block.line}: write ```python, which is run"


@pytest.mark.parametrize("page", [f"docs/{page}" for page in PAGES] + BESIDE)
def test_files_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    prose = re.sub(r"(?ms)^ *(```+).*?^ *\1", "", text)
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if not re.match(r"[a-z]+:|#", link):
            target = (ROOT / page).parent / link.partition("#")[0]
            assert target.exists(), f"{page} links to {link}, which does not exist"
    for path in re.findall(r"`((?:src|tests|docs|examples|experiments|benchmarks|\.ci)/[\w./*-]*)`", prose):
        assert list(ROOT.glob(path)), f"{page} names {path}, which does not exist"


GOOD = """
```python
>>> width = 0.5
>>> print(f"{width:.4f}", "and so on")
0.5000 and ...

>>> print("above\\n\\n  below")
above

  below
```

1. Indented, and in the same namespace:

   ```python
   with open("rows.csv", "w") as rows:
       rows.write(f"p,y\\n{width},1\\n")
   ```

```console
$ cat rows.csv
p,y
0.5,1
$ printf 'no end of line'
no end of line
$ cd / && false
$ echo $? $PWD
1 /
$ cat <<'END' | tr a-z \\
> A-Z
> upper
> END
UPPER
```

```text
$ this is not run
```
"""


def run_page(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    return failures(page, folder)


def test_the_runner_accepts_a_page_that_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_page(GOOD, tmp_path, monkeypatch) == []


@pytest.mark.parametrize(
    ("right", "wrong", "line", "word"),
    [
        ("0.5000 and", "0.5001 and", 4, "Expected:"),
        ("rows.write", "rows.rite", 17, "AttributeError"),
        ("0.5,1", "0.5,0", 21, "Expected:"),
        ("$ echo $? $PWD\n1 /\n", "", 26, "exit code 1"),
        ("$ cat rows.csv", "$ cat rows.csv && calcert nonsense", 21, "No such command 'nonsense'"),
        ("UPPER\n", "", 29, "Got:\nUPPER"),
        ("$ cat rows.csv", "$ 'cat rows.csv", 21, "bash gave up"),
    ],
)
def test_the_runner_names_the_line_that_is_wrong(
    right: str, wrong: str, line: int, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert right in GOOD
    found = run_page(GOOD.replace(right, wrong, 1), tmp_path, monkeypatch)
    assert f'page.md", line {line}' in found[0]
    assert word in found[0]


def test_a_page_is_written_anew_with_what_its_examples_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, stale = tmp_path / "page.md", GOOD.replace("0.5000 and ...", "0.7").replace("UPPER\n", "LOWER\nstill\n")
    stale = stale.replace("no end of line\n$", "$")
    page.write_text(stale, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert rewritten(stale, differences(page, tmp_path)) == GOOD.replace("and ...", "and so on")


def test_a_fence_that_is_not_closed_is_refused() -> None:
    with pytest.raises(ValueError, match="before line 3 is never closed"):
        list(blocks("text\n```python\n>>> 1\n"))


def test_a_longer_fence_holds_a_shorter_one() -> None:
    assert list(blocks("````text\n```python\n1/0\n```\n````\n")) == [Block("text", "```python\n1/0\n```\n", 2)]


def test_a_console_block_begins_with_a_command() -> None:
    with pytest.raises(ValueError, match="line 7"):
        commands(Block("console", "calcert demo\n", 7))
