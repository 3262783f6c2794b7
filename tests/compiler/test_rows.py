"""`raxis.compile(..., dynamic=True)`: few recordings for many numbers of rows, and no wrong answer."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import raxis
import raxis.nn.functional as F
from raxis import nn
from raxis.compiler.rehearsing import FEW, MANY

SHARED = "numbers of rows are rounded up to powers of two, since rows are kept apart"
SIZES = (5, 6, 9, 16, 3, 1, 2)


def matrix(rows):
    return (raxis.randn(rows, 4),)


def compared(function, arguments=matrix, sizes=SIZES):
    """The compiled function, after its results were compared with the function's for all sizes."""
    raxis.manual_seed(0)
    compiled = raxis.compile(function, dynamic=True)
    with raxis.no_grad():
        for rows in [*sizes, sizes[1]]:
            given = arguments(rows)
            for one, other in zip(leaves(compiled(*given)), leaves(function(*given)), strict=True):
                assert (one.dtype, one.shape, one.stride()) == (other.dtype, other.shape, other.stride())
                np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-5, 1e-5, err_msg=f"{rows} rows")
    return getattr(compiled, "compiled", compiled)


def leaves(results):
    return results if isinstance(results, tuple) else (results,)


def recorded(compiled):
    return [miss.arguments for miss in compiled.misses()]


# ---- what shares programs --------------------------------------------------------------------------------


def test_64_sizes_take_8_recordings() -> None:
    torch = pytest.importorskip("torch")
    raxis.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Dropout(0.5), nn.Linear(8, 3)
    ).eval()
    theirs = torch.nn.Sequential(
        torch.nn.Linear(4, 8),
        torch.nn.GELU(),
        torch.nn.LayerNorm(8),
        torch.nn.Dropout(0.5),
        torch.nn.Linear(8, 3),
    ).eval()
    theirs.load_state_dict({name: torch.tensor(value.numpy()) for name, value in model.state_dict().items()})
    compiled = raxis.compile(model, dynamic=True)
    with raxis.no_grad(), torch.no_grad():
        for rows in range(65):
            x = raxis.randn(rows, 4)
            expected = theirs(torch.tensor(x.numpy()))
            np.testing.assert_allclose(compiled(x).numpy(), expected.numpy(), 1e-4, 1e-5)
    sizes = (0, 1, 2, 4, 8, 16, 32, 64)
    assert recorded(compiled.compiled) == [f"float32[{rows}, 4]" for rows in sizes]
    assert compiled.misses()[-1].reason == "this is the first call with 33 to 64 rows"
    assert compiled.compiled.rows() == (SHARED,)
    assert f"Rows: {SHARED}." in str(compiled.explain(machine=_machine()))


def _machine():
    from raxis.ptir.passes import Machine

    return Machine(1e9, 1e9, 1e-6)


class Attention(nn.Module):
    """As users write it: with sizes read from the input."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 24)
        self.merge = nn.Linear(8, 8)

    def forward(self, x):
        rows, steps, width = x.shape
        parts = self.project(x).split(width, dim=2)
        q, k, v = (part.view(rows, steps, 2, width // 2).transpose(1, 2) for part in parts)
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        mask = raxis.tril(raxis.ones(steps, steps)) == 0
        weights = scores.masked_fill(mask, -math.inf).softmax(-1)
        merged = (weights @ v).transpose(1, 2).reshape(rows * steps, width)
        return self.merge(merged).view(rows, steps, -1)


def _models():
    raxis.manual_seed(0)
    convolutions = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(36, 5),
    )
    image, sequence = (lambda rows: (raxis.randn(rows, 3, 6, 6),)), (lambda rows: (raxis.randn(rows, 5, 8),))
    words = lambda rows: (raxis.randint(0, 10, (rows, 5)),)  # noqa: E731
    return {
        "convolutions": (convolutions, image),
        "embedding": (nn.Sequential(nn.Embedding(10, 6), nn.Linear(6, 3)), words),
        "attention": (Attention(), sequence),
        "scaled dot product": (
            nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
            sequence,
        ),
        "recurrent": (nn.GRU(8, 6, batch_first=True), sequence),
        "transposed convolution": (nn.ConvTranspose2d(3, 4, 2), image),
        "groups": (nn.GroupNorm(1, 3), image),
    }


@pytest.mark.parametrize("name", _models())
def test_models_share_programs(name) -> None:
    model, arguments = _models()[name]
    compiled = compared(model.eval(), arguments, (5, 6, 7, 9))
    assert compiled.rows() == (SHARED,)
    assert len(recorded(compiled)) == 3


SHARING = {
    "softmax": lambda x: x.softmax(-1),
    "sizes in views": lambda x: x.view(x.shape[0], -1, 2).sum(-1),
    "multiples of sizes": lambda x: x.reshape(x.size(0) * 2, 2) * 2,
    "sizes of new tensors": lambda x: raxis.zeros(x.shape[0], 4) + x,
    "slices of sizes": lambda x: raxis.ones(x.shape[:-1]) * x[:, 0],
    "equal sizes": lambda x: x * 2 if x.shape[0] == x.exp().shape[0] else x,
    "several results": lambda x: (x.sum(1), x.sort(-1)[1], raxis.ones(3) * 2),
    "other columns": lambda x: raxis.cat([t * 2 for t in x.chunk(2, 1)], 1),
    "row numbers": lambda x: x + raxis.arange(x.shape[0])[:, None],
    "transposed": lambda x: (x * 2).t(),
    "rows last": lambda x: (x * 2).t().contiguous(),
    "flat": lambda x: (x * 2).flatten(),
    "in place": lambda x: x.clone().mul_(2).add_(1),
    "constants": lambda x: x * raxis.tensor([1.0, 2.0, 3.0, 4.0]),
    "steps": lambda x: raxis.scan(lambda c, v: (c + v, c * v), raxis.zeros(x.shape[0]), x, dim=1)[1],
    "distances": lambda x: raxis.cdist(x, raxis.ones(3, 4), compute_mode="donot_use_mm_for_euclid_dist"),
}


@pytest.mark.parametrize("name", SHARING)
def test_what_shares_programs(name) -> None:
    compiled = compared(SHARING[name])
    assert compiled.rows() == (SHARED,)
    assert len(recorded(compiled)) == 6


def test_containers_with_several_tensors_of_rows() -> None:
    def function(batch, scale, table):
        x, labels = batch["x"], batch["labels"][0]
        return {"loss": F.cross_entropy(x * scale, labels, reduction="none"), "rows": [table[labels]]}

    raxis.manual_seed(0)
    table = raxis.randn(4, 3)
    compiled = raxis.compile(function, dynamic=True)
    for rows in (4, 6, 7, 8, 5, 11, 4, 6):
        batch = {"x": raxis.randn(rows, 4), "labels": (raxis.randint(0, 4, (rows,)),)}
        for scale in (2.0, 0.5):
            found, expected = compiled(batch, scale, table), function(batch, scale, table)
            np.testing.assert_allclose(found["loss"].numpy(), expected["loss"].numpy(), 1e-5)
            np.testing.assert_array_equal(found["rows"][0].numpy(), expected["rows"][0].numpy())
    assert len(compiled.misses()) == 3
    assert compiled.rows() == (SHARED,)


def test_added_rows_are_not_seen() -> None:
    compiled = raxis.compile(lambda x, at: x.gather(1, at), dynamic=True)
    for rows in (3, 5, 6):
        at = raxis.full((rows, 1), 3)
        x = raxis.arange(4 * rows).view(rows, 4)
        assert compiled(x, at).tolist() == [[4 * row + 3] for row in range(rows)]
    with pytest.raises(IndexError):
        compiled(x, raxis.full((6, 1), 4))
    nan = raxis.full((6, 4), math.nan)
    assert compiled(nan, at).isnan().all()


# ---- what does not ---------------------------------------------------------------------------------------


def _caught(x):
    try:
        x.view(-1, 16)
    except RuntimeError:
        return x * 3
    return x * 2


REFUSED = {
    "sum": (lambda x: x.sum(0), "rows are mixed, or depend on their number, in reduce_sum"),
    "mean": (lambda x: x.sum(0) / x.shape[0], "operand of div"),
    "softmax": (lambda x: x.softmax(0), "in reduce_max"),
    "running": (lambda x: x.cumsum(0), "in cumsum"),
    "reversed": (lambda x: x.flip(0), "in reverse"),
    "joined": (lambda x: raxis.cat([x, x]), "in concatenate"),
    "products": (lambda x: x @ x.t(), "rows meet rows"),
    "parts": (lambda x: x[:6].sum(1), "sizes do not grow"),
    "sizes joined": (lambda x: x * sum((*x.shape, 1)), "used as a number (radd)"),
    "each row": (lambda x: raxis.stack([row.sum() for row in x]), "sizes do not grow"),
    "few at a time": (lambda x: x * len(x.split(2)), "sizes do not grow"),
    "clamped size": (lambda x: x * x[:8].shape[0], "sizes do not grow"),
    "size times": (lambda x: x * x.shape[0], "the number of rows is an operand of mul"),
    "length times": (lambda x: x * len(x), "used as a number (index)"),
    "count times": (lambda x: x * float(x.numel()), "used as a number (float)"),
    "branch": (lambda x: x + 1 if x.shape[0] > 6 else x * 2, "used as a number (gt)"),
    "equality": (lambda x: x + 1 if x.shape[0] == 6 else x * 2, "is compared"),
    "key": (lambda x: x * {(6, 4): 5.0}.get(tuple(x.shape), 1.0), "is a key"),
    "text": (lambda x: x * len(str(x.shape)), "used as a number"),
    "memory": (lambda x: x + 1 if x.untyped_storage().nbytes() > 99 else x * 2, "used as a number (gt)"),
    "roll": (lambda x: x.roll(x.shape[0], 1), "operand of roll"),
    "caught error": (_caught, "sizes do not grow"),
    "statistics": (
        lambda x: F.batch_norm(x, None, None, training=True),
        "a number depends on the number of rows",
    ),
    "branch on values": (
        lambda x: raxis.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,)),
        "rows are mixed",
    ),
    "view of an argument": (lambda x: x.flatten(), "shares memory with an argument"),
    "distances": (lambda x: raxis.cdist(x, raxis.ones(3, 4)), "the operations depend on the number of rows"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_share_programs_is_right_too(name) -> None:
    function, reason = REFUSED[name]
    sizes = (5, 6, 9)
    compiled = compared(function, sizes=sizes)
    assert recorded(compiled) == [f"float32[{rows}, 4]" for rows in sizes]
    (note,) = compiled.rows()
    assert note.startswith("each number of rows has its own program, since ")
    assert reason in note
    assert reason in compiled.misses()[-1].reason


def test_a_size_that_is_returned() -> None:
    compiled = raxis.compile(lambda x: (x * 2, x.shape[0], x.shape), dynamic=True)
    for rows in (5, 6, 7, 7):
        assert compiled(raxis.ones(rows, 2))[1:] == (rows, (rows, 2))
    assert len(compiled.misses()) == 3


def test_dropout_draws_what_it_draws_without_compile() -> None:
    compiled = raxis.compile(lambda x: F.dropout(x, 0.5), dynamic=True)
    for rows in (5, 6, 7, 6):
        raxis.manual_seed(rows)
        found = compiled(raxis.ones(rows, 8))
        raxis.manual_seed(rows)
        np.testing.assert_array_equal(found.numpy(), F.dropout(raxis.ones(rows, 8), 0.5).numpy())
    assert compiled.rows() == ("each number of rows has its own program, since random numbers are drawn",)


def test_another_mode_is_judged_anew() -> None:
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5))
    compiled = raxis.compile(model, dynamic=True)
    with raxis.no_grad():
        for training in (False, True, False):
            model.train(training)
            for rows in (5, 6, 7, 6, 13, 14):
                x = raxis.arange(3.0 * rows).view(rows, 3).sin()
                raxis.manual_seed(3)
                before = {name: value.clone() for name, value in model.state_dict().items()}
                expected = model(x)
                after = {name: value.clone() for name, value in model.state_dict().items()}
                model.load_state_dict(before)
                raxis.manual_seed(3)
                np.testing.assert_allclose(compiled(x).numpy(), expected.numpy(), 1e-5, 1e-6)
                for name, value in model.state_dict().items():
                    np.testing.assert_allclose(value.numpy(), after[name].numpy(), 1e-5, err_msg=name)


def test_changed_weights_are_seen() -> None:
    model = nn.Linear(3, 2)
    compiled = raxis.compile(model, dynamic=True)
    with raxis.no_grad():
        for step in range(3):
            for rows in (5, 6, 7):
                x = raxis.ones(rows, 3) * rows
                np.testing.assert_allclose(compiled(x).numpy(), model(x).numpy(), 1e-6)
            model.weight.add_(1.0)
            if step == 1:
                model.weight.data = raxis.zeros(2, 3)


def test_results_that_require_grad_have_their_own_programs() -> None:
    model = nn.Linear(3, 2)
    compiled = raxis.compile(model, dynamic=True)
    for rows in (5, 6, 7, 6):
        x = raxis.ones(rows, 3, requires_grad=True)
        compiled(x).sum().backward()
        np.testing.assert_allclose(model.bias.grad.numpy(), [rows, rows])
        assert x.grad.shape == (rows, 3)
        model.zero_grad()
    assert len(compiled.misses()) == 3


def test_writes_to_arguments_stay() -> None:
    compiled = raxis.compile(lambda x: x.add_(1), dynamic=True)
    for rows in (5, 6, 7):
        x = raxis.zeros(rows, 2)
        assert compiled(x) is x
        assert x.sum() == 2 * rows


def test_arguments_that_do_not_agree_raise_as_ever() -> None:
    compiled = raxis.compile(lambda x, y: x + y, dynamic=True)
    for rows in (5, 6, 7):
        compiled(raxis.ones(rows, 2), raxis.ones(rows, 2))
    with pytest.raises(RuntimeError, match="size of tensor"):
        compiled(raxis.ones(9, 2), raxis.ones(10, 2))
    held = raxis.ones(8, 2)
    with_held = raxis.compile(lambda x: (x * 2) + held, dynamic=True)
    with_held(held)
    for rows in (5, 6):
        with pytest.raises(RuntimeError, match="size of tensor"):
            with_held(raxis.ones(rows, 2))


def test_one_tensor_twice() -> None:
    compiled = raxis.compile(lambda x, y: x * 2 if x is y else x + y, dynamic=True)
    for rows in (5, 6, 7, 6):
        x = raxis.full((rows, 2), 3.0)
        assert compiled(x, raxis.ones(rows, 2)).tolist() == [[4.0, 4.0]] * rows
        assert compiled(x, x).tolist() == [[6.0, 6.0]] * rows


def test_strided_arguments_and_other_modes() -> None:
    compiled = raxis.compile(lambda x: x * 2, dynamic=True)
    for rows in (5, 6, 7, 6):
        wide = raxis.arange(2.0 * rows).view(2, rows)
        np.testing.assert_array_equal(compiled(wide.t()).numpy(), 2 * wide.numpy().T)
        np.testing.assert_array_equal(compiled(wide.t().contiguous()).numpy(), 2 * wide.numpy().T)
        with raxis.inference_mode():
            assert compiled(raxis.ones(rows, 2)).is_inference()
        assert not compiled(raxis.ones(rows, 2)).is_inference()


def test_many_rows_have_their_own_programs() -> None:
    compiled = raxis.compile(lambda x: x * 2, dynamic=True)
    for rows in (2, MANY + 1, MANY + 2, 20000):
        assert compiled(raxis.ones(rows)).sum() == 2 * rows
    assert len(compiled.misses()) == 4
    assert FEW < MANY


def test_numbers_that_are_looked_at() -> None:
    compiled = raxis.compile(lambda x, s: x * s if s > 1 else x, dynamic=True)
    for rows in (5, 6, 7):
        for number in (2.0, 0.5, 3.0):
            assert compiled(raxis.ones(rows), number).sum() == rows * max(number, 1.0)


def test_recordings_are_bounded(monkeypatch) -> None:
    from raxis.compiler import compiled as module

    monkeypatch.setattr(module, "MOST_SIGNATURES", 4)
    compiled = raxis.compile(lambda x: x.sum(0), dynamic=True)
    for rows in (*range(1, 8), 1):
        assert compiled(raxis.ones(rows)) == rows
    assert len(compiled.replays()) == 4
    assert compiled.misses()[-1].reason == "only the last 4 kinds of arguments keep their recordings"


def test_results_lie_in_memory_as_without_added_rows():
    def function(x):
        y = x * 2
        return y, y.view(-1, 3, 1), y, y.sum(1), y[:, 1:]

    compiled = raxis.compile(function, dynamic=True)
    with raxis.no_grad():
        for rows in (5, 6, 7, 7):
            x = raxis.randn(rows, 3)
            found, expected = compiled(x), function(x)
        assert compiled.rows() == (SHARED,)
        for one, other in zip(found, expected, strict=True):
            assert one.tolist() == other.tolist()
            assert one.stride() == other.stride()
            assert one.untyped_storage().nbytes() == other.untyped_storage().nbytes()
            assert len(pickle.dumps(one)) == len(pickle.dumps(other))
        assert found[0] is found[2]
        assert found[1]._base is found[0]
        assert found[4]._base is found[0]
        found[0].zero_()
        assert not found[1].any()
        assert not found[4].any()
        assert found[3].any()
