"""Real data from a folder of Parquet files, whose content is known, duplicates dropped.

None of it comes with the project: ``python -m experiments.rebuild`` writes the same files from the public originals,
and docs/data.md says what they are. Commands refuse a file of another content, unless told ``--other-data``: any file
does that has a text (or `domain`, or `jpeg`) column and a 0/1 column `label`.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.content import content

FOLDER = Path("../shared/data")

FILES = {
    "IMDb": ("text_imdb_50k", "text"),
    "Enron spam": ("text_enron_spam", "text"),
    "CIFAR transport": ("img_cifar10_jpeg", "jpeg"),
    "phishing domains": ("urls_phishing_domains_550k", "domain"),
    "Yelp sentences": ("text_yelp_sentences_190k", "text"),
    "Amazon reviews": ("text_amazon_multidomain", "text"),
    "offensive tweets": ("text_davidson_offensive", "text"),
    "flights": ("tab_nycflights13", None),
    "ImageNet networks": ("pairs_imagenet_top1_models", None),
    "NBA Elo": ("pairs_nba_elo_home", None),
}
"""Task -> file, and the column that a row is known by."""

CONTENT = {
    "img_cifar10_jpeg": "3628c5bf51dccf95811920bfbae86c1ec9c4babf22a5d5db8f868efac64235a2",
    "pairs_imagenet_top1_models": "d59c5221ddc8bc6f8bd6062f3aeec122d4074a8e8cccf721bc12e1ed4ef02362",
    "pairs_nba_elo_home": "1069c55ba52491cb934364e33720a0ca8b29c860d17453eacddb679702573172",
    "tab_compas_deciles": "e05be6f3a72e196423a76cad32143f338a5f047c2f769291b493c9495c874bd4",
    "tab_nycflights13": "3f6c2c4a43653c9b6a1b455208e9d21df0bd2b1e6d96da867bcfc96ab46e0ef6",
    "text_amazon_multidomain": "9cf8cf9b342e692aff3c79d342282d48f4b609118f4d0f90e4168433cfe50fc0",
    "text_davidson_offensive": "0bdc6b69d1d4bbd8981bfc12a18d3008e0f6cf2f51a15bd51adbccdda50b18e2",
    "text_enron_spam": "ee83aec3a9ebdc92b45a294ab13b7a4fe71964ef6ad7d047d00d5f5fac387b5f",
    "text_imdb_50k": "b1a5dfb2a437758393c2b05bf36d9bb341f3ae217ab540f120da17d4d95a2567",
    "text_yelp_sentences_190k": "f256426601ddf8106f8fd3cb8ad8e0dbf1858904f31404d97ed08c93c568e330",
    "urls_phishing_domains_550k": "21e5112a79575b416ef9be01f6a53155f1fbb19645991724479a4d5c3e9eba06",
}
"""File -> the content that every number on the pages was measured with (:func:`experiments.content.content`)."""

OTHER_DATA = "experiments.datasets.other_data"


def data_option(command: Any) -> Any:
    """``--data FOLDER``, and ``--other-data`` for files of another content."""

    def remember(context: click.Context, _: click.Parameter, value: bool) -> None:
        context.meta[OTHER_DATA] = value

    command = click.option(
        "--other-data",
        is_flag=True,
        expose_value=False,
        callback=remember,
        help="Take files of another content than the pages are about.",
    )(command)
    return click.option(
        "--data", type=click.Path(path_type=Path), default=FOLDER, show_default=True, help="Folder of Parquet files."
    )(command)


def needed_files(tasks: Iterable[str], folder: Path) -> None:
    """Refuse to begin where a file that will be needed is not there, or is another one than the pages are about."""
    context = click.get_current_context(silent=True)
    for task in tasks:
        name = FILES[task][0]
        path = folder / f"{name}.parquet"
        if not path.exists():
            raise click.ClickException(f"{task} needs {path}, which is not there. Name the folder with --data.")
        if context is None or context.meta.get(OTHER_DATA):
            continue
        found = stored_content(path, path.stat().st_mtime_ns)
        if found != CONTENT[name]:
            raise click.ClickException(
                f"{path} is another file than the one that the pages are about: its content is {found[:12]}..., not "
                f"{CONTENT[name][:12]}... Rebuild it with python -m experiments.rebuild {name}, or take it as it is "
                "with --other-data."
            )


@functools.cache
def stored_content(path: Path, changed: int) -> str:
    """The content of a file, computed once while the file does not change."""
    try:
        return content(pq.read_table(path))
    except (pa.ArrowInvalid, TypeError) as error:
        raise click.ClickException(f"{path} is no table of numbers, texts and bytes in Parquet: {error}") from error


def kept_as(task: str, folder: Path) -> str:
    """The name that what is made of a task is kept under: another file of the task has another."""
    path = folder / f"{FILES[task][0]}.parquet"
    return f"{task.replace(' ', '-')}-{stored_content(path, path.stat().st_mtime_ns)[:12]}"


def load(task: str, folder: Path) -> pd.DataFrame:
    """All distinct rows of a task in the order of the file."""
    needed_files([task], folder)
    name, key = FILES[task]
    table = pd.read_parquet(folder / f"{name}.parquet")
    return table if key is None else table.drop_duplicates(key).reset_index(drop=True)


def split(rows: int, sizes: tuple[int, ...], seed: int) -> list[np.ndarray]:
    """Disjoint random parts of the given sizes, or everything that is left where a size is -1."""
    order = np.random.default_rng(seed).permutation(rows)
    parts, start = [], 0
    for size in sizes:
        stop = rows if size < 0 else start + size
        parts.append(order[start:stop])
        start = stop
    return parts


def pixels(jpegs: list[bytes]) -> np.ndarray:
    """Images as an array (n, 3, 32, 32) of numbers around 0."""
    from PIL import Image

    stack = np.stack([np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB")) for jpeg in jpegs])
    return (stack.transpose(0, 3, 1, 2).astype(np.float32) - 120) / 64
