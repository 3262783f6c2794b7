"""Whole training steps: losses of compiled steps equal those of eager ones, dropout on."""

from __future__ import annotations

import pytest

import raxis
import raxis.nn.functional as F
from raxis import nn

OPTIMIZERS = {
    "sgd": lambda parameters: raxis.optim.SGD(parameters, lr=0.05, momentum=0.9),
    "adam": lambda parameters: raxis.optim.Adam(parameters, lr=0.01),
    "adamw": lambda parameters: raxis.optim.AdamW(parameters, lr=0.01, weight_decay=0.1),
    "rmsprop": lambda parameters: raxis.optim.RMSprop(parameters, lr=0.01, momentum=0.5),
    "adagrad": lambda parameters: raxis.optim.Adagrad(parameters, lr=0.05),
}


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))


class CNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 6, 3)
        self.head = nn.Linear(6 * 2 * 2, 3)

    def forward(self, x: raxis.Tensor) -> raxis.Tensor:
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        x = F.dropout(F.relu(self.second(x)), 0.2, self.training)
        return self.head(F.avg_pool2d(x, 2, 1).flatten(1))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: raxis.Tensor) -> raxis.Tensor:
        batch, length, width = x.shape
        parts = self.attend(self.first(x)).split(width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        x = x + self.dropout(self.project(y.contiguous().view(batch, length, width)))
        return x + self.dropout(self.mlp(self.second(x)))


class GPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, 16), nn.Embedding(8, 16)
        self.blocks = nn.ModuleList([Block(16, 2) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 11, bias=False)

    def forward(self, index: raxis.Tensor) -> raxis.Tensor:
        x = self.tokens(index) + self.places(raxis.arange(index.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).flatten(0, 1)


MODELS = {
    "mlp": (mlp, lambda: (raxis.randn(8, 12), raxis.randint(0, 3, (8,)))),
    "cnn": (CNN, lambda: (raxis.randn(4, 1, 10, 10), raxis.randint(0, 3, (4,)))),
    "gpt": (GPT, lambda: (raxis.randint(0, 11, (3, 8)), raxis.randint(0, 11, (24,)))),
}


def losses(model: str, optimizer: str, steps: int, *, compiled: bool, clip: bool = False) -> list[float]:
    """The losses of training from a fixed seed, with a learning rate that changes at every step."""
    make, batch = MODELS[model]
    raxis.manual_seed(3)
    network = make()
    optimiser = OPTIMIZERS[optimizer](network.parameters())
    data = [batch() for _ in range(4)]

    def step(x: raxis.Tensor, y: raxis.Tensor) -> raxis.Tensor:
        optimiser.zero_grad()
        loss = F.cross_entropy(network(x), y)
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
        optimiser.step()
        return loss.detach()

    run = raxis.compile(step) if compiled else step
    raxis.manual_seed(4)
    found = []
    for number in range(steps):
        optimiser.param_groups[0]["lr"] *= 0.99
        found.append(run(*data[number % 4]).item())
    if compiled:
        assert len(run.misses()) <= 3
    return found


@pytest.mark.parametrize("model", MODELS)
def test_hundred_steps_with_dropout(model: str) -> None:
    eager = losses(model, "adamw", 100, compiled=False, clip=True)
    compiled = losses(model, "adamw", 100, compiled=True, clip=True)
    assert compiled == pytest.approx(eager, rel=2e-3, abs=2e-4)
    assert compiled[96] < compiled[0]  # on the same batch


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_optimizers(optimizer: str) -> None:
    eager = losses("mlp", optimizer, 12, compiled=False)
    assert losses("mlp", optimizer, 12, compiled=True) == pytest.approx(eager, rel=1e-5)


def accumulating_step(network: nn.Module, optimiser: raxis.optim.Optimizer):
    """A step that never clears gradients."""

    def step(x: raxis.Tensor, y: raxis.Tensor) -> raxis.Tensor:
        loss = F.cross_entropy(network(x), y)
        loss.backward()
        optimiser.step()
        return loss.detach()

    return step


def test_gradients_and_states_are_those_of_eager() -> None:
    results = []
    for wrap in (lambda step: step, raxis.compile):
        raxis.manual_seed(0)
        network, total = mlp(), []
        optimiser = OPTIMIZERS["adam"](network.parameters())
        run = wrap(accumulating_step(network, optimiser))
        for _ in range(4):
            total.append(run(raxis.randn(8, 12), raxis.randint(0, 3, (8,))).item())
        grads = [parameter.grad.clone() for parameter in network.parameters()]
        moments = [state["exp_avg"].clone() for state in optimiser.state.values()]
        counts = [state["step"].item() for state in optimiser.state.values()]
        results.append((total, grads, moments, counts))
    eager, compiled = results
    assert compiled[0] == pytest.approx(eager[0], rel=1e-6)
    assert compiled[3] == eager[3] == [4.0] * 4
    for part in (1, 2):
        for one, other in zip(eager[part], compiled[part], strict=True):
            assert_close(one, other)


def assert_close(one: raxis.Tensor, other: raxis.Tensor) -> None:
    assert raxis.allclose(one, other, rtol=1e-4, atol=1e-6), (one - other).abs().max()


def test_backward_outside_of_a_compiled_module() -> None:
    raxis.manual_seed(0)
    network = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.LayerNorm(7), nn.Dropout(0.3), nn.Linear(7, 3))
    compiled = raxis.compile(network)
    for _ in range(3):
        found = []
        start = raxis.get_rng_state()
        x = raxis.randn(4, 5, requires_grad=True)
        noise = raxis.get_rng_state()
        for run in (network, compiled):
            raxis.set_rng_state(noise)
            network.zero_grad()
            x.grad = None
            y = run(x * 2)
            y.sin().sum().backward()
            found.append([y.detach(), x.grad.clone(), *(p.grad.clone() for p in network.parameters())])
        raxis.set_rng_state(start)
        raxis.rand(7)
        for one, other in zip(*found, strict=True):
            assert_close(one, other)
    assert len(compiled.misses()) == 1
    assert y.grad_fn.name() == "CompiledFunctionBackward"
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
