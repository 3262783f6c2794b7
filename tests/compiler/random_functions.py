"""Random functions over tensors, made of what user code does: ops, views, writes, indices, numbers, random numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import raxis
import raxis.nn.functional as F
from raxis import Tensor
from tests.compiler.agreement import Case

ROWS, COLUMNS = 3, 4

Step = Callable[["Frame", random.Random], Tensor]


class Frame:
    """What a random function has at hand while it runs: its values so far, weights from outside, numbers.

    Attributes:
        values: arguments and results, all of shape (ROWS, COLUMNS).
        weights: leaves that require grad.
        state: outside tensors that are written.
        numbers: Python numbers among the arguments.
    """

    def __init__(
        self, values: list[Tensor], weights: list[Tensor], state: list[Tensor], numbers: list[float]
    ) -> None:
        self.values = list(values)
        self.weights = weights
        self.state = state
        self.numbers = numbers

    def some(self, rng: random.Random) -> Tensor:
        """Any value, a weight, or state."""
        return rng.choice([*self.values[-4:], *self.values[-2:], *self.weights, *self.state])


def fit(value: Tensor) -> Tensor:
    """Bounded, in the shape of all values."""
    return (
        raxis.tanh(value.float()).expand(ROWS, COLUMNS)
        if value.shape != (ROWS, COLUMNS)
        else value.float().tanh()
    )


UNARY: list[Callable[[Tensor], Tensor]] = [
    raxis.sin, raxis.exp, raxis.neg, raxis.abs, raxis.sigmoid, raxis.relu, raxis.square, F.gelu, F.softplus,
    lambda x: x.softmax(-1), lambda x: x.log_softmax(0), lambda x: x.cumsum(1), lambda x: x.clamp(-0.5, 0.7),
    lambda x: x.abs().add(0.1).log(), lambda x: x.abs().add(0.1).rsqrt(), lambda x: x.sort(1)[0], lambda x: x.flip(0),
    lambda x: x.roll(1, 1), lambda x: x.double().float(), lambda x: x.to(raxis.bfloat16).float(),
    lambda x: F.layer_norm(x, (COLUMNS,)), lambda x: x.tril(), lambda x: x.round().int().float(), raxis.clone,
    lambda x: x.detach(), lambda x: (x > 0).float() * x, lambda x: x.where(x > 0, -x), lambda x: x.nan_to_num(),
]  # fmt: skip
BINARY: list[Callable[[Tensor, Tensor], Tensor]] = [
    raxis.add, raxis.sub, raxis.mul, raxis.maximum, raxis.minimum, lambda x, y: x / (y.abs() + 0.5), raxis.atan2,
    lambda x, y: x @ y.t() @ x, lambda x, y: raxis.lerp(x, y, 0.3), lambda x, y: raxis.addcmul(x, x, y, value=0.5),
    lambda x, y: raxis.where(x > y, x, y * 2), lambda x, y: raxis.cat([x, y], 1)[:, 2:6],
    lambda x, y: raxis.stack([x, y]).mean(0), lambda x, y: raxis.einsum("ij,kj->ik", x, y) @ y,
    lambda x, y: F.linear(x, y) @ y, lambda x, y: raxis.outer(x[:, 0], y[0]),
]  # fmt: skip
REDUCTIONS: list[Callable[[Tensor], Tensor]] = [
    lambda x: x.sum(), lambda x: x.mean(1, keepdim=True), lambda x: x.amax(0), lambda x: x.var(0),
    lambda x: x.logsumexp(1, keepdim=True), lambda x: x.norm(), lambda x: x.prod(1, keepdim=True), lambda x: x.max(),
    lambda x: x.argmax(1, keepdim=True), lambda x: x.any(1, keepdim=True), lambda x: x.min(0)[0],
]  # fmt: skip
VIEWS: list[Callable[[Tensor], Tensor]] = [
    lambda x: x, lambda x: x.t().reshape(ROWS, COLUMNS), lambda x: x.reshape(-1).view(ROWS, COLUMNS), lambda x: x[1],
    lambda x: x[:, 1:2], lambda x: x[:, ::2].repeat(1, 2), lambda x: x.unsqueeze(1).squeeze(1), lambda x: x.data,
    lambda x: x[0, 0], lambda x: x.chunk(2, 1)[1].repeat(1, 2), lambda x: x.unfold(1, 2, 2).flatten(1),
    lambda x: x.diagonal()[:1], lambda x: x[[2, 0, 1]], lambda x: x[:, raxis.tensor([3, 3, 0, 1])], lambda x: x.mT.mT,
    lambda x: x.as_strided((ROWS, COLUMNS), (COLUMNS, 1), x.storage_offset()) if x.is_contiguous() else x,
    lambda x: x.gather(1, (x > 0).long()).repeat(1, 1), lambda x: x.unbind(0)[2], lambda x: x.split([1, 3], 1)[0],
]  # fmt: skip
PARTS: list[Callable[[Tensor], Tensor]] = [
    lambda x: x, lambda x: x[0], lambda x: x[:, 1], lambda x: x[1:, ::2], lambda x: x.t()[2], lambda x: x.view(-1)[3:7],
    lambda x: x[:, 1:3], lambda x: x.diagonal(),
]  # fmt: skip
WRITES: list[Callable[[Tensor, Tensor], Any]] = [
    lambda part, x: part.add_(x.mean()), lambda part, x: part.mul_(0.5), lambda part, x: part.copy_(x.max()),
    lambda part, x: part.zero_(), lambda part, x: part.fill_(0.25), lambda part, x: part.sub_(x[0, 0], alpha=2),
    lambda part, x: part.clamp_(-0.5, 0.5), lambda part, x: part.masked_fill_(part > 0, -0.1),
    lambda part, x: part.tanh_(), lambda part, x: part.lerp_(x.sum().tanh().expand(part.shape), 0.5),
    lambda part, x: part.neg_(),
]  # fmt: skip


def unary(frame: Frame, rng: random.Random) -> Tensor:
    return fit(rng.choice(UNARY)(frame.some(rng)))


def binary(frame: Frame, rng: random.Random) -> Tensor:
    return fit(rng.choice(BINARY)(frame.some(rng), frame.some(rng)))


def reduction(frame: Frame, rng: random.Random) -> Tensor:
    return fit(rng.choice(REDUCTIONS)(frame.some(rng)))


def view(frame: Frame, rng: random.Random) -> Tensor:
    found = rng.choice(VIEWS)(frame.some(rng))
    return found if found.shape == (ROWS, COLUMNS) and rng.random() < 0.7 else fit(found)


def write(frame: Frame, rng: random.Random) -> Tensor:
    """To a value that is no leaf and lies in memory of its own, or to one of its parts."""
    kind, part, source = rng.choice(WRITES), rng.choice(PARTS), frame.some(rng)
    target = frame.values[rng.randrange(len(frame.values))]
    if (target.is_leaf and target.requires_grad) or not target.is_contiguous():
        target = target * 1
    with raxis.set_grad_enabled(raxis.is_grad_enabled()):
        kind(part(target), source)
    return target


def write_state(frame: Frame, rng: random.Random) -> Tensor:
    kind, part, source = rng.choice(WRITES), rng.choice(PARTS), frame.some(rng)
    target = rng.choice(frame.state)
    with raxis.no_grad():
        kind(part(target), source.detach())
    return target * 1


def set_item(frame: Frame, rng: random.Random) -> Tensor:
    target = frame.some(rng) * 1
    key = rng.choice([0, (slice(None), 1), (slice(1, None), slice(None, None, 2)), (1, 2), Ellipsis])
    target[key] = rng.choice([0.5, frame.some(rng).mean(), target[key] * 2])
    return target


def noise(frame: Frame, rng: random.Random) -> Tensor:
    value = frame.some(rng)
    return rng.choice([
        lambda: F.dropout(value, 0.3), lambda: value + raxis.rand(ROWS, COLUMNS),
        lambda: value * raxis.randn_like(value),
        lambda: value + raxis.randint(0, 3, (COLUMNS,)), lambda: value.detach().clone().uniform_() + value,
        lambda: raxis.bernoulli(raxis.full((ROWS, COLUMNS), 0.5)) * value,
    ])()  # fmt: skip


def number(frame: Frame, rng: random.Random) -> Tensor:
    value, given = frame.some(rng), rng.choice(frame.numbers)
    return fit(rng.choice([
        lambda: value * given, lambda: value + given / 2, lambda: given - value, lambda: raxis.full_like(value, given),
        lambda: value.clamp(max=given), lambda: value * (given * 2 + 1), lambda: value + raxis.arange(COLUMNS) * given,
    ])())  # fmt: skip


def factory(frame: Frame, rng: random.Random) -> Tensor:
    value = frame.some(rng)
    return fit(value + rng.choice([
        lambda: raxis.zeros(COLUMNS), lambda: raxis.ones_like(value), lambda: raxis.linspace(0, 1, COLUMNS),
        lambda: raxis.eye(ROWS, COLUMNS), lambda: raxis.tensor([1.0, 2.0, 3.0, 4.0]), lambda: value.new_full((1,), 3),
        lambda: raxis.arange(COLUMNS),
    ])())  # fmt: skip


def gradient(frame: Frame, rng: random.Random) -> Tensor:
    """The gradient of something within the function."""
    with raxis.enable_grad():
        x = frame.some(rng).detach().clone().requires_grad_()
        y = rng.choice(BINARY)(x, frame.some(rng).detach())
        (found,) = raxis.autograd.grad(y.sum(), x, create_graph=rng.random() < 0.3)
    return fit(found)


def out(frame: Frame, rng: random.Random) -> Tensor:
    value = frame.some(rng).detach()
    target = rng.choice([raxis.empty(0), raxis.empty(ROWS, COLUMNS), raxis.empty(COLUMNS, ROWS).t()])
    return raxis.mul(value, 2, out=target)


STEPS: list[Step] = [
    unary, unary, binary, binary, reduction, view, view, write, write, write_state, set_item, noise, number, factory,
    gradient, out,
]  # fmt: skip


def random_case(seed: int) -> Case:
    """A random function with its arguments; the same for one seed."""
    rng = random.Random(seed)
    count, decisions = rng.randint(2, 9), rng.randrange(1 << 30)
    weights = [raxis.randn(ROWS, COLUMNS, requires_grad=True) for _ in range(rng.randint(0, 2))]
    state = [raxis.randn(ROWS, COLUMNS) for _ in range(rng.randint(1, 2))]
    inside, taped = rng.random() < 0.3, rng.random() < 0.5
    overlapping, listed = rng.random() < 0.15, rng.random() < 0.3

    def function(x: Any, y: Tensor, options: dict[str, Any], scale: float) -> Any:
        choices = random.Random(decisions)
        frame = Frame([*x, y] if listed else [x, y], weights, state, [scale, options["shift"]])
        for _ in range(count):
            frame.values.append(choices.choice(STEPS)(frame, choices))
        if inside and (weights or taped):
            loss = sum((value * value).sum() for value in frame.values[-2:])
            if loss.requires_grad:
                loss.backward()
            return [value.detach() for value in frame.values[-2:]]
        return _returned(frame, choices)

    def arguments(number: int) -> tuple[Any, ...]:
        base = raxis.randn(2 * ROWS, COLUMNS)
        x, y = (
            (base[:ROWS], base[1 : ROWS + 1]) if overlapping else (base[:ROWS].clone(), base[ROWS:].clone())
        )
        if taped and not overlapping:
            x.requires_grad_()
        if inside:
            for weight in weights:
                weight.grad = None
        return [x] if listed else x, y, {"shift": number}, number / 2

    def after(result: Any, given: tuple[Any, ...]) -> Any:
        found = [item for item in raxis.utils._pytree.tree_flatten(result)[0] if isinstance(item, Tensor)]
        on_tape = [item for item in found if item.requires_grad]
        if on_tape and not inside:
            sum((item.float() ** 2).sum() for item in on_tape).backward()
        seen = [weight.grad for weight in weights], [tensor.clone() for tensor in state]
        if not inside:
            for weight in weights:
                weight.grad = None
        return seen

    return Case(function, arguments, after)


def _returned(frame: Frame, rng: random.Random) -> Any:
    last = frame.values[-1]
    return rng.choice([
        lambda: last, lambda: (last, frame.values[-2]), lambda: {"last": last, "row": last[0], "text": "x"},
        lambda: [last, [last.t(), frame.values[0]], None], lambda: (last.sum(), last[:, 1], frame.numbers[0]),
        lambda: tuple(frame.values[-3:]), lambda: (last, last, frame.state[0]),
    ])()  # fmt: skip
