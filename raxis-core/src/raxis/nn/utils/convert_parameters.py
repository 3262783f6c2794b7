"""Parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import raxis

if TYPE_CHECKING:
    from raxis.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of all parameters, one after the other, in a new tensor of one dimension.

    Raises:
        TypeError: the parameters are on different devices.

    Example:
        >>> import raxis
        >>> raxis.nn.utils.parameters_to_vector([raxis.tensor([[1.0, 2.0]]), raxis.tensor([3.0])]).tolist()
        [1.0, 2.0, 3.0]
    """
    members = list(parameters)
    _require_one_device(members)
    return raxis.cat([parameter.reshape(-1) for parameter in members])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give parameters the values in `vec`, the opposite of `parameters_to_vector`. They share its memory.

    Raises:
        TypeError: `vec` is not a tensor, or the parameters are on different devices.

    Example:
        >>> import raxis
        >>> weight = raxis.zeros(2, 1)
        >>> raxis.nn.utils.vector_to_parameters(raxis.tensor([1.0, 2.0]), [weight])
        >>> weight.tolist()
        [[1.0], [2.0]]
    """
    if not isinstance(vec, raxis.Tensor):
        raise TypeError(f"expected raxis.Tensor, but got: {type(vec).__name__}")
    members = list(parameters)
    _require_one_device(members)
    start = 0
    for parameter in members:
        stop = start + parameter.numel()
        parameter.data = vec[start:stop].view_as(parameter).data
        start = stop


def _require_one_device(parameters: list[Tensor]) -> None:
    devices = {parameter.device for parameter in parameters}
    if len(devices) > 1:
        found = ", ".join(sorted(map(str, devices)))
        raise TypeError(f"Found parameters on different devices, this is currently not supported: {found}.")
