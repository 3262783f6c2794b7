"""``x[index]`` off the tape is arithmetic on layouts; on the tape it is an op. Both must show the same elements."""

from __future__ import annotations

import numpy as np
import pytest

import raxis

INDICES = [
    1, -1, slice(1, 3), slice(None), slice(-2, None), slice(3, 1), slice(0, 100, 2), slice(np.int64(1), None),
    (slice(None), 1), (..., slice(1, 3)), (1, ..., 2), (None, slice(2), None), (slice(1, 4, 2), -1, slice(None, 2)),
    (), ..., None, (raxis.tensor(1), slice(raxis.tensor(1), None)),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_the_same_elements_on_and_off_the_tape(index: object) -> None:
    array = np.arange(4 * 5 * 3, dtype=np.float32).reshape(4, 5, 3)
    plain = index if not isinstance(index, tuple) else tuple(_plain(item) for item in index)
    expected = array[plain]
    x = raxis.from_numpy(array)
    tracked = x.detach().requires_grad_()
    for _ in range(2):
        views = [x[index], tracked[index], x.transpose(0, 2)[:].transpose(0, 2)[index]]
        for view in views:
            assert view.shape == expected.shape
            np.testing.assert_array_equal(view.detach().numpy(), expected)
        assert views[0].data_ptr() == views[1].data_ptr() == views[2].data_ptr()
        assert [view.requires_grad for view in views] == [False, True, False]
    tracked[index].sum().backward()
    gradient = np.zeros_like(array)
    gradient[plain] = 1
    np.testing.assert_array_equal(tracked.grad.numpy(), gradient)


def _plain(item: object) -> object:
    if isinstance(item, raxis.Tensor):
        return item.item()
    return slice(1, None) if isinstance(item, slice) and isinstance(item.start, raxis.Tensor) else item


def test_a_bound_given_as_tensor_is_read_at_each_call() -> None:
    x, start = raxis.arange(5), raxis.tensor(1)
    assert x[start:].tolist() == [1, 2, 3, 4]
    start.fill_(3)
    assert x[start:].tolist() == [3, 4]
    assert x[None, start:].tolist() == [[3, 4]]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_slices_of_empty_tensors(shape: tuple[int, ...]) -> None:
    assert raxis.zeros(*shape)[1:].shape == np.zeros(shape)[1:].shape


def test_errors() -> None:
    x = raxis.zeros(2, 3)
    for index, error in (
        (5, IndexError),
        (slice(None, None, -1), ValueError),
        (slice(1.5), TypeError),
        ((0, 7), IndexError),
    ):
        with pytest.raises(error):
            x[index]
    with pytest.raises(IndexError, match="0-dim"):
        raxis.tensor(1.0)[:]


def test_views_made_in_inference_mode_stay_marked() -> None:
    with raxis.inference_mode():
        x = raxis.ones(3)
    assert x[1:].is_inference()
    assert x[0].is_inference()
    assert x[None, 1:].is_inference()
