"""Real data from a folder of Parquet files, named and shaped as below, duplicates dropped.

None of it comes with the project. Anyone with the original sets can write the same files: a text (or `domain`, or
`jpeg`) column and a 0/1 column `label`.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

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
}
"""Task -> file, and the column that a row is known by."""


def data_option(command: Any) -> Any:
    """``--data FOLDER``."""
    return click.option(
        "--data", type=click.Path(path_type=Path), default=FOLDER, show_default=True, help="Folder of Parquet files."
    )(command)


def needed_files(tasks: Iterable[str], folder: Path) -> None:
    """Refuse to begin where a file that will be needed is not there."""
    for task in tasks:
        path = folder / f"{FILES[task][0]}.parquet"
        if not path.exists():
            raise click.ClickException(f"{task} needs {path}, which is not there. Name the folder with --data.")


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
