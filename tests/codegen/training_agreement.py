"""Training on `cpu` and `opencl`, where both are installed: ``python -m tests.codegen.training_agreement gpt``.

Prints the losses of both and how far apart they are; raises AssertionError when that is too far.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import numpy as np

import raxis
from raxis import nn
from tests.compiler.models import GPT, mlp

SEED, CONTEXT, WORDS = 0, 32, 29
Batches = list[tuple[np.ndarray, np.ndarray]]


def images() -> Batches:
    """Four batches of what a linear model would tell apart."""
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(4, 64, 64)).astype(np.float32)
    return list(zip(x, (x @ rng.normal(size=(64, 10))).argmax(-1), strict=True))


def text() -> Batches:
    """Four batches of sequences in which a word mostly says what the next one is."""
    rng = np.random.default_rng(SEED)
    words = rng.integers(0, WORDS, (4, 8, CONTEXT + 1))
    for place in range(CONTEXT):
        known = rng.random((4, 8)) < 0.9
        words[..., place + 1] = np.where(known, (5 * words[..., place] + 3) % WORDS, words[..., place + 1])
    return [(part[:, :-1].copy(), part[:, 1:].reshape(-1)) for part in words]


def train(model: nn.Module, optimizer: raxis.optim.Optimizer, batches: Batches, steps: int) -> np.ndarray:
    """The losses of so many steps, on the device of the model."""
    device = next(model.parameters()).device
    data = [(raxis.tensor(x).to(device), raxis.tensor(y).to(device)) for x, y in batches]
    losses = []
    for step in range(steps):
        x, y = data[step % len(data)]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


Optimizer = Callable[[nn.Module], raxis.optim.Optimizer]
MODELS: dict[str, tuple[Callable[[], nn.Module], Optimizer, Callable[[], Batches], int]] = {
    "mlp": (lambda: mlp(64, 64, 10), lambda m: raxis.optim.Adam(m.parameters(), lr=1e-3), images, 200),
    "gpt": (
        lambda: GPT(WORDS, CONTEXT, 64, 4),
        lambda m: raxis.optim.AdamW(m.parameters(), lr=3e-3, weight_decay=0.1),
        text,
        30,
    ),
}


def check_losses(name: str) -> None:
    make, optimize, batches, steps = MODELS[name]
    found = []
    for device in ("cpu", "opencl"):
        raxis.manual_seed(SEED)
        model = make().to(device)
        raxis.manual_seed(SEED + 1)
        found.append(train(model, optimize(model), batches(), steps))
        check_moves(model)
    distance = abs(found[0] - found[1]).max()
    print(f"{name}, seed {SEED}: from {found[1][0]:.4f} to {found[1][-1]:.4f}, at most {distance:.2e} apart")
    assert found[1][-1] < found[1][0] / 2, found[1]
    assert distance < 1e-4, abs(found[0] - found[1])


def check_moves(model: nn.Module) -> None:
    """Parameters are the same after a move to either device, and in a file that is read on either."""
    before = {name: value.cpu().numpy().copy() for name, value in model.state_dict().items()}
    file = io.BytesIO()
    raxis.save(model.state_dict(), file)
    for device in ("cpu", "opencl", "cpu"):
        file.seek(0)
        loaded = raxis.load(file, map_location=device)
        moved = model.to(device).state_dict()
        for name, value in before.items():
            for found in (loaded[name], moved[name]):
                assert found.device.type == device, (name, found.device)
                assert np.array_equal(found.cpu().numpy(), value), name


if __name__ == "__main__":
    check_losses(sys.argv[1])
