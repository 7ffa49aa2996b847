"""MuZero on CartPole-v1: the mean return of 100 episodes after training, for some seeds.

python bench/muzero.py                               three seeds, with the default settings
python bench/muzero.py --seeds 5 --steps 60000       five seeds, each for so many steps of the environment
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

# A file in this folder has the name of the package gymnasium, so the folder must not be on the import path.
sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != Path(__file__).resolve().parent]

import torch  # noqa: E402

from treetop.train.muzero import MuZeroOptions, MuZeroRun  # noqa: E402


def main() -> None:
    """Train and measure each seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--steps", type=int, default=45_000, help="steps of the environment")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{given.env}, {given.steps:,} steps, one thread")
    print("seed  minutes  CPU minutes  mean return of episodes      lowest", flush=True)
    for seed in range(given.seeds):
        with tempfile.TemporaryDirectory() as folder:
            run = MuZeroRun.create(Path(folder) / "run", given.env, MuZeroOptions(steps=given.steps, seed=seed))
            start = time.process_time()
            run.train()
            used = time.process_time() - start
            found = run.evaluate(given.episodes)
        minutes = f"{run.seconds / 60:7.1f}  {used / 60:11.1f}"
        print(f"{seed:4}  {minutes}  {found.interval!s:<28} {min(found.returns):g}", flush=True)


if __name__ == "__main__":
    main()
