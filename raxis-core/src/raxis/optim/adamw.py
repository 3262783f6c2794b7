"""Adam with decoupled weight decay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raxis.optim.adam import Adam

if TYPE_CHECKING:
    from raxis.optim.groups import Parameters
    from raxis.tensor import Tensor

__all__ = ["AdamW"]


class AdamW(Adam):
    """`Adam` whose weight decay shrinks the parameters instead of entering the running means.

    Source: I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", 2017.

    Arguments and errors are those of `Adam`.

    Example:
        >>> import raxis
        >>> weight = raxis.nn.Parameter(raxis.tensor(1.0))
        >>> optimizer = raxis.optim.AdamW([weight], lr=0.5, weight_decay=0.5)
        >>> (weight * 0.0).backward()
        >>> optimizer.step()
        >>> weight.item()
        0.75
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
