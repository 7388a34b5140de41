"""What the published methods cost as the paper counts it: 64 data sets of every size up to 10,000,000 rows.

python benchmarks/published_methods.py [--distribution square] [--repeats 64] [--quick]

One function, all four methods (NW, Lip+Bkt, TV and ECE), drawing the rows included, in one process on one core. The
paper names about 4 minutes on one machine, without its cores or whether it means one function or all. Seconds are those
of the processor. A quick run has sizes up to 100,000 rows and 4 repeats.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from rich.progress import track

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.distributions import DISTRIBUTIONS, NAMES
from experiments.synthetic import SIZES, published_values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--distribution", default="square", choices=NAMES)
    parser.add_argument("--repeats", type=int, default=64)
    parser.add_argument("--quick", action="store_true", help="sizes up to 100,000 rows and 4 repeats")
    asked = parser.parse_args()
    place = NAMES.index(asked.distribution)
    distribution = DISTRIBUTIONS[place]
    sizes, repeats = (SIZES[:5], min(asked.repeats, 4)) if asked.quick else (SIZES, asked.repeats)
    published_values(distribution, sizes[0], np.random.default_rng(0))  # compile, and the true errors
    start = time.process_time()
    for repeat in track(range(repeats), f"{distribution.name}, up to {sizes[-1]:,} rows", transient=True):
        for n in sizes:
            values, _, _ = published_values(distribution, n, np.random.default_rng([place, n, repeat]))
            assert all(value >= truth for name, (value, truth) in values.items() if not name.startswith("ECE")), values
    spent = time.process_time() - start
    sets = f"{repeats} data sets of each of {len(sizes)} sizes up to {sizes[-1]:,} rows"
    print(f"{asked.distribution}: {sets}: {spent:.0f} s")


if __name__ == "__main__":
    main()
