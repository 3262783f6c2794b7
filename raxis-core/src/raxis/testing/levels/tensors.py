"""What users do with tensors: composites, autograd, training, compiled functions; answers from ``cpu`` in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import raxis
import raxis.nn.functional as F
from raxis import dtypes, nn, optim
from raxis.tensor import Tensor
from raxis.testing.case import Case, Declined, Subject, named, require
from raxis.testing.comparing import check_close

COMPOSITES, AUTOGRAD, TRAINING, COMPILE = "composites", "autograd", "training", "compile"


def _numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Distinct numbers in (-1.5, 1.5), none near 0."""
    rng = np.random.default_rng((seed, *shape))
    magnitudes = 0.1 + 1.4 * (rng.permutation(int(np.prod(shape))) + 0.5) / max(int(np.prod(shape)), 1)
    return np.asarray((magnitudes * rng.choice([-1.0, 1.0], magnitudes.shape)).reshape(shape))


def _tensors(arrays: Sequence[np.ndarray], device: str, exact: bool, grad: bool = False) -> list[Tensor]:
    made = []
    for array in arrays:
        floating = array.dtype.kind == "f"
        dtype = (
            (dtypes.float64 if exact else dtypes.float32)
            if floating
            else dtypes.from_numpy_dtype(array.dtype)
        )
        tensor = raxis.tensor(array.tolist(), dtype=dtype).reshape(array.shape).to(device)
        made.append(tensor.requires_grad_() if grad and floating else tensor)
    return made


def _array(tensor: Tensor) -> np.ndarray:
    return np.asarray(tensor.detach().cpu().numpy())


def _flat(result: Any) -> list[Tensor]:
    return [result] if isinstance(result, Tensor) else [item for part in result for item in _flat(part)]


_X, _Y, _M, _W = _numbers(4, 6), _numbers(4, 6, seed=1), _numbers(6, 5), _numbers(3, 2, 3, 3)
_IMAGE = _numbers(2, 2, 6, 6)
_INDEX = np.array([[0, 2, 1, 0, 3, 1]])
_TARGET = np.array([1, 0, 5, 2])
_HEADS = _numbers(2, 3, 5, 4)

OPS: Mapping[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "add_broadcast": (lambda x, y: x + y[0] * 2 - 1, (_X, _Y)),
    "linear": (lambda x, w: F.linear(x, w.t()), (_X, _M)),
    "matmul": (lambda x, y: x @ y, (_X, _M)),
    "bmm": (lambda x: raxis.matmul(x, x.transpose(-1, -2)), (_HEADS,)),
    "einsum": (lambda x, y: raxis.einsum("ij,kj->ik", x, y), (_X, _Y)),
    "softmax": (lambda x: F.softmax(x, -1), (_X,)),
    "log_softmax": (lambda x: F.log_softmax(x, 0), (_X,)),
    "layer_norm": (lambda x: F.layer_norm(x, (6,)), (_X,)),
    "group_norm": (lambda x: F.group_norm(x, 1), (_IMAGE,)),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), (_IMAGE,)),
    "gelu": (F.gelu, (_X,)),
    "silu": (F.silu, (_X,)),
    "relu": (F.relu, (_X,)),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.2), (_X,)),
    "sigmoid_tanh": (lambda x: x.sigmoid() * x.tanh(), (_X,)),
    "conv2d": (lambda x, w: F.conv2d(x, w, padding=1, stride=2), (_IMAGE, _W)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), (_IMAGE,)),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2), (_IMAGE,)),
    "cross_entropy": (F.cross_entropy, (_X, _TARGET)),
    "mse_loss": (F.mse_loss, (_X, _Y)),
    "embedding": (F.embedding, (_INDEX, _X)),
    "attention": (lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), (_HEADS,)),
    "var_mean": (lambda x: x.var(1) + x.mean(1), (_X,)),
    "logsumexp": (lambda x: x.logsumexp(1), (_X,)),
    "norm": (lambda x: x.norm(), (_X,)),
    "cumsum": (lambda x: x.cumsum(1), (_X,)),
    "cummax": (lambda x: x.cummax(1)[0], (_X,)),
    "logcumsumexp": (lambda x: x.logcumsumexp(1), (_X,)),
    "kthvalue": (lambda x: x.kthvalue(2, 1)[0], (_X,)),
    "median": (lambda x: x.median(1)[0], (_X,)),
    "masked_select": (lambda x: x[x > 0.2], (_X,)),
    "index_put": (
        lambda x, i, y: x.index_put((i[0],), y[:1].expand(6, 6), accumulate=True),
        (_X, _INDEX, _Y),
    ),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w[:2], stride=2), (_IMAGE, _W)),
    "overlapping_max_pool2d": (lambda x: F.max_pool2d(x, 3, stride=1, padding=1), (_IMAGE,)),
    "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, 4), (_IMAGE,)),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, 4), (_IMAGE,)),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=1.5, mode="bilinear"), (_IMAGE,)),
    "prod": (lambda x: x.prod(1), (_X,)),
    "sort": (lambda x: x.sort(1)[0], (_X,)),
    "topk": (lambda x: x.topk(3, 1)[0], (_X,)),
    "where": (lambda x, y: raxis.where(x > 0, x, y), (_X, _Y)),
    "clamp": (lambda x: x.clamp(-0.5, 0.7), (_X,)),
    "maximum": (raxis.maximum, (_X, _Y)),
    "gather": (lambda x, i: x.gather(0, i), (_X, _INDEX)),
    "index_select": (lambda x, i: x.index_select(0, i[0]), (_X, _INDEX)),
    "scatter_add": (lambda x, i, y: x.scatter_add(0, i, y), (_X, _INDEX, _Y)),
    "subscripts": (lambda x: x[1:, ::2] * x[:, None, -1][1:], (_X,)),
    "advanced_index": (lambda x, t: x[raxis.arange(4, device=x.device), t], (_X, _TARGET)),
    "cat_stack": (lambda x, y: raxis.stack([raxis.cat([x, y]), raxis.cat([y, x])]), (_X, _Y)),
    "permute_reshape": (lambda x: x.permute(0, 2, 1, 3).reshape(2, -1) * 2, (_HEADS,)),
    "expand_sum": (lambda x: x[:, None].expand(4, 3, 6).sum((0, 2)), (_X,)),
    "pad": (lambda x: F.pad(x, (1, 2), value=0.5), (_X,)),
    "exp_log_sqrt": (lambda x: (x.exp() + 1).log() * (x * x + 1).sqrt(), (_X,)),
    "pow_div": (lambda x, y: x.abs() ** 1.5 / y, (_X, _Y)),
    "amax_amin": (lambda x: x.amax(1) - x.amin(1), (_X,)),
    "tril": (lambda x: x.tril(), (_X,)),
    "roll_flip": (lambda x: x.roll(2, 1).flip(0), (_X,)),
    "solve": (
        lambda x: raxis.linalg.solve(x @ x.t() + raxis.eye(4, dtype=x.dtype, device=x.device), x),
        (_X,),
    ),
}
"""Functions of tensors and their arguments; all are differentiable in those that are floating-point."""

DISCRETE: Mapping[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "nonzero": (lambda x: (x > 0).nonzero(), (_X,)),
    "unique": (lambda i: i.unique(), (_INDEX,)),
    "bincount": (lambda i: i[0].bincount(), (_INDEX,)),
    "argsort": (lambda x: x.argsort(1), (_X,)),
    "searchsorted": (lambda x, y: raxis.searchsorted(x.sort(1)[0], y), (_X, _Y)),
    "argmax": (lambda x: x.argmax(1), (_X,)),
    "compare": (lambda x, y: (x > y) | (x < -1), (_X, _Y)),
}
"""Functions without gradients."""


def _composite(name: str, subject: Subject) -> None:
    function, arrays = {**OPS, **DISCRETE}[name]
    found = function(*_tensors(arrays, subject.name, exact=False))
    expected = function(*_tensors(arrays, "cpu", exact=True))
    require(
        found.device.type == subject.type, f"{name} of tensors on {subject.name} gave one on {found.device}."
    )
    dtype = expected.dtype if name in DISCRETE else dtypes.float32
    check_close(_array(found), _array(expected), dtype, name, factor=10)


def _gradient(name: str, subject: Subject) -> None:
    function, arrays = OPS[name]
    gradients = []
    for device, exact in ((subject.name, False), ("cpu", True)):
        leaves = _tensors(arrays, device, exact, grad=True)
        result = function(*leaves)
        weights = _tensors([_numbers(*result.shape, seed=7)], device, exact)[0]
        (result * weights).sum().backward()
        gradients.append([leaf.grad for leaf in leaves if leaf.requires_grad])
    for found, expected in zip(*gradients, strict=True):
        require(found.device.type == subject.type, f"a gradient of {name} is on {found.device}.")
        check_close(_array(found), _array(expected), dtypes.float32, f"a gradient of {name}", factor=20)


def _gradcheck(subject: Subject) -> None:
    """Gradients against finite differences, first and second."""
    for primitive in ("add", "mul", "tanh", "exp", "dot_general"):
        reason = subject.claim(primitive, dtypes.float64)
        if reason is not None:
            raise Declined(reason)
    x, w = _tensors([_X, _M], subject.name, exact=True, grad=True)

    def function(x: Tensor, w: Tensor) -> Tensor:
        return ((x @ w).tanh() * 2).exp().sum()

    raxis.autograd.gradcheck(function, (x, w))
    raxis.autograd.gradgradcheck(function, (x, w))


def _accumulation(subject: Subject) -> None:
    x = raxis.ones(3, device=subject.name, requires_grad=True)
    for _ in range(2):
        (x * 3).sum().backward()
    gradient: Any = x.grad
    require(
        gradient.tolist() == [6.0] * 3, f"two backward passes of 3 x accumulated {gradient.tolist()}, not 6."
    )
    with raxis.no_grad():
        x -= 0.5 * gradient
    require(x.tolist() == [-2.0] * 3, f"an update in place gave {x.tolist()}, not -2.")
    y = (x.detach() * 2).requires_grad_()
    (gradient,) = raxis.autograd.grad((y**3).sum(), y, create_graph=True)
    second: Any
    (second,) = raxis.autograd.grad(gradient.sum(), y)
    require(
        second.tolist() == [-24.0] * 3, f"the second derivative of y**3 at -4 is {second.tolist()}, not -24."
    )


def _model(kind: str) -> nn.Module:
    models: dict[str, Callable[[], nn.Module]] = {
        "mlp": lambda: nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3)),
        "convolutional": lambda: nn.Sequential(
            nn.Unflatten(1, (1, 2, 3)), nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
            nn.MaxPool2d((2, 1)), nn.Flatten(), nn.Linear(12, 3),
        ),
        "dropout": lambda: nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3)),
    }  # fmt: skip
    raxis.manual_seed(0)
    return models[kind]()


_OPTIMIZERS: Mapping[str, Callable[[Any], optim.Optimizer]] = {
    "sgd": lambda parameters: optim.SGD(parameters, lr=0.05, momentum=0.9, nesterov=True),
    "adam": lambda parameters: optim.Adam(parameters, lr=0.01),
    "adamw": lambda parameters: optim.AdamW(parameters, lr=0.01, weight_decay=0.1),
    "rmsprop": lambda parameters: optim.RMSprop(parameters, lr=0.005),
    "adagrad": lambda parameters: optim.Adagrad(parameters, lr=0.05),
}


def _losses(kind: str, optimizer: str, device: str, exact: bool, compiled: bool = False) -> list[float]:
    model = _model(kind)
    model = (model.double() if exact else model).to(device)
    x, t = _tensors([_numbers(12, 6), np.arange(12) % 3], device, exact)
    stepper = _OPTIMIZERS[optimizer](model.parameters())
    forward = raxis.compile(model) if compiled else model
    raxis.manual_seed(1)
    losses = []
    for _ in range(8):
        stepper.zero_grad()
        loss = F.cross_entropy(forward(x), t)
        loss.backward()
        stepper.step()
        losses.append(loss.item())
    return losses


def _train(kind: str, optimizer: str, subject: Subject) -> None:
    found = _losses(kind, optimizer, subject.name, exact=False)
    expected = _losses(kind, optimizer, "cpu", exact=kind != "dropout")
    near = np.allclose(found, expected, rtol=2e-3, atol=1e-4)
    require(near, f"training {kind} with {optimizer}: losses {found}, expected {expected}.")
    require(found[-1] < found[0], f"training {kind} with {optimizer} does not lower the loss: {found}.")


def _state_dict(subject: Subject) -> None:
    model, other = _model("mlp").to(subject.name), _model("mlp").to(subject.name)
    with raxis.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    other.load_state_dict(model.state_dict())
    x = raxis.tensor(_numbers(3, 6).tolist(), device=subject.name)
    require(
        raxis.equal(model(x), other(x)), "a model that loaded another one's state computes other numbers."
    )
    moved = model.to("cpu")
    check_close(_array(moved(x.cpu())), _array(other(x)), dtypes.float32, "a model moved to cpu", factor=10)


def _compiled(name: str, subject: Subject) -> None:
    function, arrays = OPS[name]
    operands = _tensors(arrays, subject.name, exact=False)
    compiled = raxis.compile(function)
    expected = _array(function(*operands))
    for _ in range(3):
        check_close(_array(compiled(*operands)), expected, dtypes.float32, f"compiled {name}", factor=10)


def _compiled_shapes(subject: Subject) -> None:
    compiled = raxis.compile(lambda x, scale: (x * scale).tanh().sum(0))
    for rows, scale in ((2, 1.0), (3, 0.5), (2, 2.0), (5, 1.0)):
        array = _numbers(rows, 4)
        found = compiled(_tensors([array], subject.name, exact=False)[0], scale)
        check_close(
            _array(found), np.tanh(array * scale).sum(0), dtypes.float32, f"compiled, {rows} rows", factor=10
        )


def _compiled_training(subject: Subject) -> None:
    found = _losses("mlp", "adam", subject.name, exact=False, compiled=True)
    expected = _losses("mlp", "adam", subject.name, exact=False)
    require(np.allclose(found, expected, rtol=1e-3), f"compiled training: losses {found}, eager {expected}.")


def _compiled_in_place(subject: Subject) -> None:
    def update(x: Tensor, y: Tensor) -> Tensor:
        x.add_(y)
        return x * 2

    x, y = _tensors([_X, _Y], subject.name, exact=False)
    compiled = raxis.compile(update)
    for count in (1, 2, 3):
        check_close(
            _array(compiled(x, y)), 2 * (_X + count * _Y), dtypes.float32, "a compiled update", factor=10
        )
        check_close(_array(x), _X + count * _Y, dtypes.float32, "what a compiled function updated", factor=10)


def composites() -> Iterator[Case]:
    """Values of ops."""
    for name in (*OPS, *DISCRETE):
        yield Case(COMPOSITES, name, partial(_composite, name))


def autograd() -> Iterator[Case]:
    """Gradients."""
    for name in OPS:
        yield Case(AUTOGRAD, name, partial(_gradient, name))
    yield from named(AUTOGRAD, {"gradcheck": _gradcheck, "accumulation": _accumulation})


def training() -> Iterator[Case]:
    """Models and optimizers."""
    for optimizer in _OPTIMIZERS:
        yield Case(TRAINING, f"mlp_{optimizer}", partial(_train, "mlp", optimizer))
    for kind in ("convolutional", "dropout"):
        yield Case(TRAINING, f"{kind}_sgd", partial(_train, kind, "sgd"))
    yield from named(TRAINING, {"state_dict": _state_dict})


def compiling() -> Iterator[Case]:
    """Compiled functions."""
    for name in ("layer_norm", "attention", "conv2d", "subscripts", "sort", "scatter_add", "cross_entropy"):
        yield Case(COMPILE, name, partial(_compiled, name))
    yield from named(
        COMPILE,
        {"shapes": _compiled_shapes, "training": _compiled_training, "in_place": _compiled_in_place},
    )
