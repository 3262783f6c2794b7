"""no_grad, enable_grad, set_grad_enabled, inference_mode."""

from __future__ import annotations

import threading

import numpy as np

import raxis
from tests.autograd.agreement import assert_agreement, same_error


def leaf(lib):
    return lib.tensor([1.0, 2.0], dtype=lib.float64, requires_grad=True)


def test_nesting_and_restoring():
    def run(lib):
        x = leaf(lib)
        seen = []
        with lib.no_grad():
            seen.append((x * 2).requires_grad)
            with lib.enable_grad():
                seen.append((x * 2).requires_grad)
            seen.append(lib.is_grad_enabled())
        seen.append(lib.is_grad_enabled())
        return seen

    assert_agreement(run)


def test_decorators():
    def run(lib):
        x = leaf(lib)

        @lib.no_grad()
        def plain(depth):
            return plain(depth - 1) if depth else (x * 2).requires_grad

        @lib.no_grad
        def bare():
            return lib.is_grad_enabled()

        @lib.no_grad()
        def steps():
            yield lib.is_grad_enabled()
            yield lib.is_grad_enabled()

        outside = []
        for inside in steps():
            outside.append((inside, lib.is_grad_enabled()))
        return plain(3), bare(), outside, lib.is_grad_enabled()

    assert_agreement(run)


def test_set_grad_enabled_as_function_and_context():
    def run(lib):
        seen = []
        lib.set_grad_enabled(False)
        seen.append(lib.is_grad_enabled())
        lib.set_grad_enabled(True)
        seen.append(lib.is_grad_enabled())
        with lib.set_grad_enabled(False):
            seen.append(lib.is_grad_enabled())
        seen.append(lib.is_grad_enabled())
        return seen

    assert_agreement(run)


def test_inference_tensors():
    def run(lib):
        with lib.inference_mode():
            y = lib.ones(2) * 2
            inside = lib.is_inference_mode_enabled(), y.is_inference(), lib.is_grad_enabled()
        return inside, y.is_inference(), lib.is_inference_mode_enabled()

    assert_agreement(run)


def test_every_new_tensor_is_one_of_inference_mode():
    def run(lib):
        x = lib.ones(3)
        with lib.inference_mode():
            made = [
                lib.empty(2), lib.empty_like(x), x.new_empty(2), lib.empty_strided((2,), (1,)), lib.tensor([1.0]),
                lib.from_numpy(np.ones(2)), lib.as_tensor([1.0]), x.nonzero(), x[x > 0], lib.unique(x),
                x.to(lib.float64), x.detach(), x.view(3),
            ]  # fmt: skip
        return [tensor.is_inference() for tensor in made]

    assert_agreement(run)


def test_inference_tensors_cannot_be_saved_or_written():
    def saved(lib):
        with lib.inference_mode():
            y = lib.ones(2, dtype=lib.float64) * 2
        (leaf(lib) * y).sum().backward()

    def written(lib):
        with lib.inference_mode():
            y = lib.ones(2) * 2
        y.add_(1)

    assert "clone" in same_error(saved)
    assert "clone" in same_error(written)


def test_modes_belong_to_their_thread():
    seen = []
    with raxis.no_grad():
        thread = threading.Thread(target=lambda: seen.append(raxis.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]
