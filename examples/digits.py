"""Train two classifiers of handwritten digits, an MLP and a small CNN, with Raxis.

Writes a picture of the outcome and a checkpoint, and predicts once more from the checkpoint. The data are
scikit-learn's handwritten digits, or Fashion-MNIST where it is installed, or --data.
"""

from __future__ import annotations

import argparse
import functools
import tempfile
import time
from pathlib import Path

import numpy as np
from handwriting import report, training
from handwriting.data import FILES, Data, DataError, load
from handwriting.models import MODELS

import raxis

LIMIT = 6000
"""Images of a large data set that are used unless --limit says otherwise: about two minutes' work."""


def positive(text: str) -> int:
    """An argument that counts something."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not a positive number")
    return value


def directory_to_write(text: str) -> Path:
    """An argument that names a directory for results; it is made if need be."""
    path = Path(text)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise argparse.ArgumentTypeError(f"'{path}' cannot be written to: {error.strerror}") from error
    return path


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="digits.py", description=__doc__)
    add = functools.partial(parser.add_argument, metavar="N")
    add("--data", type=Path, metavar="DIR", help=f"with idx files: {', '.join(FILES)} (.gz or not)")
    add("--epochs", type=positive, help="default: 20 for digits, 3 for idx files")
    add("--limit", type=positive, default=LIMIT, help="images to train on at most (default: %(default)s)")
    add("--seed", type=int, default=0, help="of split, values and order (default: %(default)s)")
    add("--device", metavar="NAME", help="default: RAXIS_DEVICE, else cpu")
    add("--out", type=directory_to_write, metavar="DIR", default="demo-results", help="default: %(default)s")
    return parser


def prepare(options: argparse.Namespace) -> Data:
    """Choose the device, seed, and load the data; what can go wrong does so here, before any work."""
    if options.device is not None:
        raxis.set_default_device(options.device)
    raxis.zeros(1).item()  # loads the device's plugin and computes
    raxis.manual_seed(options.seed)
    return load(options.data, options.seed).limited(options.limit)


def demonstrate(data: Data, epochs: int, out: Path) -> None:
    """Train, report, save, and predict from what was saved."""
    print(f"Data: {data}\nDevice: {raxis.get_default_device()}")
    outcomes = []
    for name in MODELS:
        start = time.perf_counter()
        outcome = training.train(name, data, epochs)
        outcomes.append(outcome)
        seconds = time.perf_counter() - start
        count = sum(parameter.numel() for parameter in outcome.model.parameters())
        print(f"{name}: {count:,} parameters, test accuracy {outcome.accuracy:.2%}, {seconds:.1f} s")
    picture, checkpoint = out / "digits.png", out / "digits.pt"
    report.draw(outcomes, data, picture)
    training.save(outcomes[-1], data, checkpoint)
    again = training.predict(training.restore(checkpoint), data.test)
    if not np.array_equal(again, outcomes[-1].predictions):
        raise RuntimeError(f"The model restored from {checkpoint} does not predict what the saved one did.")
    print(f"Picture: {picture}\nCheckpoint: {checkpoint}; a new model restored from it predicts the same.")


def main() -> None:
    """Run the demo; the exit status is 2 when something given to it cannot be used."""
    parser = argument_parser()
    options = parser.parse_args()
    try:
        data = prepare(options)
    except (DataError, RuntimeError, ValueError) as error:
        parser.error(str(error))
    demonstrate(data, options.epochs or data.epochs, options.out)


if __name__ == "__main__":
    main()
