"""Transforms, constraints and what leads from one to the other, against torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from raxis import distributions as D
from tests.distributions.families import OURS, THEIRS, Library, definite, positive, real

Build = Callable[[Any], Any]

TRANSFORMS: dict[str, tuple[Build, np.ndarray]] = {
    "Exp": (lambda M: M.ExpTransform(), real(2, 3)),
    "Sigmoid": (lambda M: M.SigmoidTransform(), real(2, 3)),
    "Softplus": (lambda M: M.SoftplusTransform(), real(2, 3)),
    "Tanh": (lambda M: M.TanhTransform(), real(2, 3)),
    "Abs": (lambda M: M.AbsTransform(), positive(2, 3)),
    "Power": (lambda M: M.PowerTransform(-1.5), positive(2, 3)),
    "Affine": (lambda M: M.AffineTransform(1.0, -2.0), real(2, 3)),
    "Affine of vectors": (lambda M: M.AffineTransform(1.0, 2.0, event_dim=1), real(2, 3)),
    "Softmax": (lambda M: M.SoftmaxTransform(), real(2, 3)),
    "StickBreaking": (lambda M: M.StickBreakingTransform(), real(2, 3)),
    "LowerCholesky": (lambda M: M.LowerCholeskyTransform(), real(2, 3, 3)),
    "PositiveDefinite": (lambda M: M.PositiveDefiniteTransform(), real(2, 3, 3)),
    "CorrCholesky": (lambda M: M.CorrCholeskyTransform(), real(2, 6)),
    "Reshape": (lambda M: M.ReshapeTransform((6,), (2, 3)), real(4, 6)),
    "Compose": (
        lambda M: M.ComposeTransform([M.AffineTransform(1.0, 2.0), M.SigmoidTransform()]),
        real(2, 3),
    ),
    "Compose of vectors": (
        lambda M: M.ComposeTransform([M.TanhTransform(), M.StickBreakingTransform()]),
        real(2, 3),
    ),
    "Compose of nothing": (lambda M: M.ComposeTransform([]), real(2, 3)),
    "Independent": (lambda M: M.IndependentTransform(M.ExpTransform(), 1), real(2, 3)),
    "Inverse": (lambda M: M.ExpTransform().inv, positive(2, 3)),
    "Stack": (lambda M: M.StackTransform([M.ExpTransform(), M.TanhTransform()], 1), real(3, 2)),
    "Cat": (lambda M: M.CatTransform([M.ExpTransform(), M.TanhTransform()], 1, [1, 2]), real(2, 3)),
    "CumulativeDistribution": (lambda M: M.CumulativeDistributionTransform(M.Normal(0.0, 1.0)), real(2, 3)),
}


def _outcome(function: Callable[[], Any]) -> Any:
    try:
        result = function()
    except NotImplementedError:
        return NotImplementedError
    return result.numpy() if hasattr(result, "numpy") else result


def _same(function: Callable[[Library, Any], Any], build: Build) -> None:
    ours, theirs = (_outcome(lambda: function(each, build(each.distributions))) for each in (OURS, THEIRS))  # noqa: B023
    if isinstance(theirs, np.ndarray):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-12)
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str) -> None:
    build, argument = TRANSFORMS[name]
    values = build(THEIRS.distributions)(torch.tensor(argument)).numpy()
    _same(lambda library, transform: transform(library.tensor(argument)), build)
    _same(lambda library, transform: transform.inv(library.tensor(values)), build)
    _same(
        lambda library, transform: transform.log_abs_det_jacobian(
            library.tensor(argument), library.tensor(values)
        ),
        build,
    )
    _same(lambda library, transform: transform.codomain.check(library.tensor(values)), build)
    _same(lambda library, transform: transform.domain.check(library.tensor(argument)), build)
    _same(lambda _, transform: tuple(transform.forward_shape(argument.shape)), build)
    _same(lambda _, transform: tuple(transform.inverse_shape(values.shape)), build)
    for attribute in ("bijective", "sign"):
        _same(lambda _, transform: getattr(transform, attribute), build)  # noqa: B023
    for region in ("domain", "codomain"):
        _same(lambda _, transform: getattr(transform, region).event_dim, build)  # noqa: B023


@pytest.mark.parametrize("name", TRANSFORMS)
def test_inverses(name: str) -> None:
    build, argument = TRANSFORMS[name]
    transform = build(D)
    assert transform.inv.inv == transform
    assert transform != 3
    if name != "CumulativeDistribution":
        assert transform == build(D)
    value = transform(raxis.tensor(argument))
    np.testing.assert_allclose(transform(transform.inv(value)).numpy(), value.numpy(), rtol=1e-6, atol=1e-9)
    if transform.bijective:
        jacobian = transform.log_abs_det_jacobian(raxis.tensor(argument), value)
        back = transform.inv.log_abs_det_jacobian(value, raxis.tensor(argument))
        np.testing.assert_allclose(jacobian.numpy(), -back.numpy(), rtol=1e-9)


def test_cached_transforms_return_the_argument_itself() -> None:
    for transform in (D.TanhTransform(cache_size=1), D.ExpTransform().with_cache()):
        x = raxis.tensor([100.0, 1.0])
        assert transform.inv(transform(x)) is x
    assert D.ExpTransform().with_cache(0) == D.ExpTransform()
    with pytest.raises(ValueError, match="cache_size"):
        D.ExpTransform(cache_size=2)


def test_equal_transforms() -> None:
    assert D.AffineTransform(1.0, 2.0) == D.AffineTransform(1.0, 2.0) != D.AffineTransform(1.0, 3.0)
    assert D.AffineTransform(raxis.ones(2), 2.0) == D.AffineTransform(raxis.ones(2), 2.0)
    assert D.ExpTransform() != D.TanhTransform()
    assert len({D.ExpTransform(), D.ExpTransform()}) == 1


CONSTRAINTS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "boolean": (lambda c: c.boolean, [0.0, 1.0, 0.5]),
    "one_hot": (lambda c: c.one_hot, [[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]]),
    "nonnegative_integer": (lambda c: c.nonnegative_integer, [0.0, 1.5, -1.0, 3.0]),
    "positive_integer": (lambda c: c.positive_integer, [0.0, 1.0, 1.5]),
    "integer_interval": (lambda c: c.integer_interval(0, 5), [0.0, 5.0, 6.0, 0.5]),
    "real": (lambda c: c.real, [0.0, np.nan, np.inf]),
    "real_vector": (lambda c: c.real_vector, [[0.0, np.nan], [1.0, np.inf]]),
    "positive": (lambda c: c.positive, [0.0, 1.0, -1.0, np.nan]),
    "nonnegative": (lambda c: c.nonnegative, [0.0, 1.0, -1.0, np.nan]),
    "greater_than": (lambda c: c.greater_than(1.0), [1.0, 2.0]),
    "greater_than_eq": (lambda c: c.greater_than_eq(1.0), [1.0, 0.5]),
    "less_than": (lambda c: c.less_than(1.0), [1.0, 0.5]),
    "unit_interval": (lambda c: c.unit_interval, [0.0, 0.5, 1.0, 1.5, np.nan]),
    "interval": (lambda c: c.interval(-1.0, 2.0), [-1.0, 2.0, 3.0]),
    "half_open_interval": (lambda c: c.half_open_interval(-1.0, 2.0), [-1.0, 2.0]),
    "multinomial": (lambda c: c.multinomial(3), [[1.0, 2.0], [2.0, 2.0], [-1.0, 2.0]]),
    "simplex": (lambda c: c.simplex, [[0.5, 0.5], [0.5, 0.6], [-0.5, 1.5]]),
    "lower_triangular": (lambda c: c.lower_triangular, [[[1.0, 0.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 3.0]]]),
    "lower_cholesky": (lambda c: c.lower_cholesky, [[[1.0, 0.0], [2.0, 3.0]], [[-1.0, 0.0], [2.0, 3.0]]]),
    "corr_cholesky": (lambda c: c.corr_cholesky, [[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.9]]]),
    "square": (lambda c: c.square, [[[1.0, 0.0, 2.0], [0.6, 0.8, 3.0]]]),
    "symmetric": (lambda c: c.symmetric, [[[1.0, 2.0], [2.0, 3.0]], [[1.0, 2.0], [2.5, 3.0]]]),
    "positive_definite": (
        lambda c: c.positive_definite,
        [[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]],
    ),
    "positive_semidefinite": (
        lambda c: c.positive_semidefinite,
        [[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]],
    ),
    "independent": (lambda c: c.independent(c.positive, 1), [[1.0, 2.0], [1.0, -2.0]]),
    "cat": (lambda c: c.cat([c.positive, c.real], 0, [1, 2]), [-1.0, -1.0, 2.0]),
    "stack": (lambda c: c.stack([c.positive, c.real], 0), [-1.0, -1.0]),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints(name: str) -> None:
    build, values = CONSTRAINTS[name]
    ours, theirs = build(D.constraints), build(torch.distributions.constraints)
    numbers = np.array(values)
    expected = theirs.check(torch.tensor(numbers)).numpy()
    np.testing.assert_array_equal(ours.check(raxis.tensor(numbers)).numpy(), expected)
    assert (ours.event_dim, ours.is_discrete) == (theirs.event_dim, theirs.is_discrete)
    assert repr(ours)


REACHED = [
    "real", "positive", "nonnegative", "greater_than", "greater_than_eq", "less_than", "unit_interval", "interval",
    "half_open_interval", "simplex", "lower_cholesky", "corr_cholesky", "positive_definite", "independent",
]  # fmt: skip


@pytest.mark.parametrize("name", REACHED)
@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
def test_constraints_are_reached(name: str, registry: str) -> None:
    build, _ = CONSTRAINTS[name]
    argument = real(2, 3, 3)
    values = []
    if registry == "biject_to" and name in ("lower_cholesky", "positive_definite"):
        with pytest.raises(NotImplementedError, match="Cannot transform"):
            D.biject_to(build(D.constraints))
        return
    for library in (OURS, THEIRS):
        constraint = build(library.distributions.constraints)
        transform = getattr(library.distributions, registry)(constraint)
        value = transform(library.tensor(argument))
        assert constraint.check(value).all()
        values.append(value.numpy())
    np.testing.assert_allclose(*values, rtol=1e-9)


def test_unknown_constraints() -> None:
    for constraint in (D.constraints.boolean, D.constraints.dependent):
        with pytest.raises(NotImplementedError, match="Cannot transform"):
            D.biject_to(constraint)
    with pytest.raises(TypeError, match="Constraint subclass or instance"):
        D.biject_to.register(3, lambda constraint: constraint)
    with pytest.raises(ValueError, match="dependent"):
        D.constraints.dependent.check(raxis.ones(2))

    class Even(D.constraints.Constraint):
        pass

    registry = type(D.biject_to)()

    @registry.register(Even)
    def _(_: Any) -> Any:
        return D.AffineTransform(0, 2)

    assert registry(Even()) == D.AffineTransform(0, 2)


def test_a_density_over_matrices() -> None:
    """Transformed distributions sum the right dimensions: factors of correlation matrices, from normal vectors."""
    results = []
    vector = real(2, 3)
    for library in (OURS, THEIRS):
        M = library.distributions
        base = M.Independent(M.Normal(library.tensor(np.zeros((2, 3))), 1.0), 1)
        distribution = M.TransformedDistribution(base, [M.CorrCholeskyTransform()])
        assert tuple(distribution.batch_shape) == (2,)
        assert tuple(distribution.event_shape) == (3, 3)
        factor = M.CorrCholeskyTransform()(library.tensor(vector))
        results.append(distribution.log_prob(factor).numpy())
    np.testing.assert_allclose(*results, rtol=1e-8)


def test_covariances_are_reached_by_gradients() -> None:
    target = raxis.tensor(definite(2))
    free = raxis.zeros(2, 2, dtype=raxis.float64, requires_grad=True)
    optimizer = raxis.optim.Adam([free], lr=0.1)
    for _ in range(150):
        optimizer.zero_grad()
        p = D.MultivariateNormal(
            raxis.zeros(2).double(), scale_tril=D.transform_to(D.constraints.lower_cholesky)(free)
        )
        D.kl_divergence(p, D.MultivariateNormal(raxis.zeros(2).double(), target)).backward()
        optimizer.step()
    np.testing.assert_allclose(p.covariance_matrix.numpy(force=True), target.numpy(), rtol=0.1, atol=0.1)
