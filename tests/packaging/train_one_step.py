"""Train a linear layer by one step on the named device; the exit status is 0 when the loss went down."""

from __future__ import annotations

import sys
from pathlib import Path

import raxis


def losses(device: str) -> tuple[float, float]:
    """The mean squared error before and after one step of gradient descent."""
    raxis.manual_seed(0)
    inputs = raxis.randn(32, 4, device=device)
    targets = inputs.sum(dim=1, keepdim=True)
    model = raxis.nn.Linear(4, 1).to(device)
    optimizer = raxis.optim.SGD(model.parameters(), lr=0.1)
    before = raxis.nn.functional.mse_loss(model(inputs), targets)
    before.backward()
    optimizer.step()
    return before.item(), raxis.nn.functional.mse_loss(model(inputs), targets).item()


if __name__ == "__main__":
    device = sys.argv[1]
    before, after = losses(device)
    print(f"raxis {raxis.__version__} in {Path(raxis.__file__).parent}")
    print(f"loss on {device}: {before:.4f} -> {after:.4f}")
    sys.exit(0 if after < before else 1)
