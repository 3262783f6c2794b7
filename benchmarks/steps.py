"""Whole training steps: `raxis.compile` beside eager Raxis, eager PyTorch and ``torch.compile``.

``python -m benchmarks.steps --threads 1`` interleaves all four in one process. ``torch.compile`` needs a C++ compiler
on the machine; without one its column stays empty.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

import raxis

Step = Callable[[], object]


class Model(NamedTuple):
    """A training step to time.

    Attributes:
        name: as shown.
        make: gives, for a library, its ``nn`` and its functional, the model, the inputs and the targets.
        optimizer: the optimizer's name.
    """

    name: str
    make: Callable[[Any, Any, Any], tuple[Any, Any, Any]]
    optimizer: str


def mlp(lib: Any, nn: Any, _functional: Any) -> tuple[Any, Any, Any]:
    """784-128-64-10, batch 64."""
    network = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    return network, lib.randn(64, 784), lib.randint(0, 10, (64,))


def cnn(lib: Any, nn: Any, functional: Any) -> tuple[Any, Any, Any]:
    """Two convolutions with pooling and two linear layers, 28x28, batch 64, dropout."""

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Conv2d(1, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
            self.hidden, self.out = nn.Linear(32 * 7 * 7, 64), nn.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            x = functional.max_pool2d(functional.relu(self.first(x)), 2)
            x = functional.max_pool2d(functional.relu(self.second(x)), 2)
            return self.out(functional.dropout(functional.relu(self.hidden(x.flatten(1))), 0.2))

    return Network(), lib.randn(64, 1, 28, 28), lib.randint(0, 10, (64,))


def gpt(lib: Any, nn: Any, functional: Any) -> tuple[Any, Any, Any]:
    """Two blocks of width 128 with four heads, 64 tokens, batch 8, dropout."""
    width, heads, length, vocabulary = 128, 4, 64, 65

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.dropout = nn.Dropout(0.1)

        def forward(self, x: Any) -> Any:
            batch = x.shape[0]
            parts = self.attend(self.first(x)).split(width, dim=2)
            q, k, v = (part.view(batch, length, heads, -1).transpose(1, 2) for part in parts)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
            x = x + self.dropout(self.project(y.contiguous().view(batch, length, width)))
            return x + self.dropout(self.down(functional.gelu(self.up(self.second(x)))))

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList([Block(), Block()])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

        def forward(self, index: Any) -> Any:
            x = self.tokens(index) + self.places(lib.arange(length))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x)).flatten(0, 1)

    return Network(), lib.randint(0, vocabulary, (8, length)), lib.randint(0, vocabulary, (8 * length,))


MODELS = (Model("MLP, Adam", mlp, "Adam"), Model("CNN, Adam", cnn, "Adam"), Model("GPT, AdamW", gpt, "AdamW"))


def step_of(lib: Any, model: Model, compile: Callable[[Any], Any] | None) -> Step:
    """The training step of one library, perhaps compiled."""
    network, x, y = model.make(lib, lib.nn, lib.nn.functional)
    optimizer = getattr(lib.optim, model.optimizer)(network.parameters(), lr=1e-3)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = lib.nn.functional.cross_entropy(network(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    run = step if compile is None else compile(step)
    return lambda: run(x, y)


def columns(model: Model) -> dict[str, Step]:
    """What is compared."""
    found = {
        "compiled": step_of(raxis, model, raxis.compile),
        "eager": step_of(raxis, model, None),
        "torch": step_of(torch, model, None),
    }
    if shutil.which("g++") or shutil.which("clang++"):
        found["torch.compile"] = step_of(torch, model, torch.compile)
    return found


def timed(steps: dict[str, Step], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each step, round by round; the first to run changes from round to round."""
    for step in steps.values():
        for _ in range(5):
            step()
    times: dict[str, list[float]] = {name: [] for name in steps}
    names = list(steps)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            start = time.perf_counter()
            for _ in range(3):
                steps[name]()
            times[name].append((time.perf_counter() - start) / 3 * 1e3)
    return times


def rows(rounds: int) -> Iterator[dict[str, Any]]:
    """One row a model: medians in milliseconds, and medians of the rounds' ratios."""
    for model in MODELS:
        times = timed(columns(model), rounds)
        row: dict[str, Any] = {"name": model.name}
        row.update({name: statistics.median(values) for name, values in times.items()})
        for other in [name for name in times if name != "compiled"]:
            pairs = zip(times["compiled"], times[other], strict=True)
            row[f"compiled / {other}"] = statistics.median(one / two for one, two in pairs)
        yield row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    raxis.set_num_threads(options.threads)
    for row in rows(options.rounds):
        if options.json:
            print(json.dumps(row))
            continue
        values = ", ".join(f"{name} {value:.3g}" for name, value in row.items() if name != "name")
        print(f"{row['name']}: {values}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
