"""Runs raxis on the sample inputs of torch's operator database and compares with torch.

A test module lists the names it covers::

    CASES = opinfo.cases("abs", "add")

    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_op(case):
        case.run()

A hole (see `tests.parity.holes`) covers samples that do not work, and fails the test once all of them do.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

import raxis
from tests.parity import aspects
from tests.parity.bridge import RAXIS_DTYPES, NotRepresentableError
from tests.parity.catalogue import entries_of, function_of
from tests.parity.holes import Hole, Tolerances, holes_of, is_comparable, tolerances_of

SAMPLE_LIMIT = 24
"""Samples per case, taken evenly from all that torch gives."""

ASPECTS = ("values", "gradients", "second", "inplace", "out", "method", "errors")


@dataclass(frozen=True)
class Outcome:
    """One sample of a case: what went wrong ("" if nothing did), and the holes that cover it."""

    sample: Any
    problem: str
    holes: tuple[Hole, ...]

    def __str__(self) -> str:
        return f"{_describe(self.sample)}\n{self.problem}"


@dataclass(frozen=True)
class Case:
    """One aspect of one entry of the database in one dtype (None for ``errors``)."""

    key: str
    aspect: str
    dtype: torch.dtype | None
    limit: int = SAMPLE_LIMIT

    def __str__(self) -> str:
        suffix = "" if self.dtype is None else "-" + str(self.dtype).removeprefix("torch.")
        return f"{self.key}-{self.aspect}{suffix}"

    @property
    def entry(self) -> Any:
        """The entry of the database."""
        return entries_of(self.key)[self.key]

    @property
    def values(self) -> bool:
        """Whether elements are compared, and not only dtypes and shapes."""
        return is_comparable(self.key, self.aspect)

    @property
    def tolerances(self) -> Tolerances:
        """Where the default tolerances do not do."""
        return tolerances_of(self.key)

    def run(self) -> None:
        """Check every sample; all failures are reported together."""
        works: dict[Hole, bool] = {}
        failures = []
        for outcome in self.outcomes():
            for hole in outcome.holes:
                works[hole] = works.get(hole, True) and not outcome.problem
            if outcome.problem and not outcome.holes:
                failures.append(str(outcome))
        assert not failures, f"{len(failures)} failures (seed {self.seed})\n" + "\n\n".join(failures[:3])
        stale = [hole.reason for hole, all_work in works.items() if all_work]
        assert not stale, f"holes that are none any more: {stale}"

    def outcomes(self) -> Iterator[Outcome]:
        """What comes of every sample that raxis can represent."""
        function = function_of(self.entry)
        assert function is not None, f"raxis has no {self.key}"
        check = getattr(aspects, self.aspect)
        known = holes_of(self.key, self.aspect, self.dtype)
        for sample in self.samples():
            holes = [hole for hole in known if hole.sample is None or hole.sample(_input_of(sample))]
            problem = self._problem(check, function, sample)
            if problem is not None:
                yield Outcome(sample, problem, tuple(holes))

    def _problem(self, check: Callable[..., None], function: Any, sample: Any) -> str | None:
        torch.manual_seed(self.seed)
        raxis.manual_seed(self.seed)
        try:
            check(self, function, sample)
        except NotRepresentableError:
            return None
        except Exception as error:
            return f"{type(error).__name__}: {error}{_origin(error)}"
        return ""

    @property
    def seed(self) -> int:
        """What samples and cotangents are made from."""
        return zlib.crc32(str(self).encode())

    def samples(self) -> list[Any]:
        """The sample inputs (error inputs for ``errors``)."""
        torch.manual_seed(self.seed)
        if self.aspect == "errors":
            return list(self.entry.error_inputs("cpu"))
        limit = 3 if self.aspect == "method" else self.limit
        differentiable = self.aspect in ("gradients", "second")
        found = list(self.entry.sample_inputs("cpu", self.dtype, requires_grad=differentiable))
        return [found[index * len(found) // limit] for index in range(limit)] if len(found) > limit else found


def _input_of(sample: Any) -> Any:
    return getattr(sample, "sample_input", sample)


def _describe(sample: Any) -> str:
    sample = _input_of(sample)
    return f"input={_brief(sample.input)} args={_brief(sample.args)} kwargs={_brief(sample.kwargs)}"


def _brief(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        content = value.tolist() if value.device.type == "cpu" and 0 < value.numel() <= 4 else "..."
        return f"{str(value.dtype)[6:]}{list(value.shape)}{list(value.stride())}={content}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_brief(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(map(_brief, value)) + ")"
    return repr(value)


def _origin(error: BaseException) -> str:
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return "" if frame is None else f" [{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}]"


def cases(
    *names: str,
    aspects: Sequence[str] = ASPECTS,
    dtypes: Iterable[torch.dtype] | None = None,
    limit: int = SAMPLE_LIMIT,
) -> list[Case]:
    """One case per entry, aspect and dtype.

    Args:
        names: names of the database (all their variants), or ``name:variant``.
        aspects: those of `ASPECTS` to check.
        dtypes: restricts the dtypes torch supports for the op.
        limit: samples per case.
    """
    wanted = None if dtypes is None else frozenset(dtypes)
    return [
        Case(key, aspect, dtype, limit)
        for name in names
        for key, entry in entries_of(name).items()
        for aspect in aspects
        for dtype in _dtypes(entry, aspect, wanted)
    ]


def _dtypes(entry: Any, aspect: str, wanted: frozenset[torch.dtype] | None) -> Sequence[torch.dtype | None]:
    supported = entry.supported_dtypes("cpu")
    known = [dtype for dtype in RAXIS_DTYPES if dtype in supported and (wanted is None or dtype in wanted)]
    if aspect == "values":
        return list(known)
    if aspect in ("gradients", "second"):
        wanted = entry.supports_autograd and (aspect == "gradients" or entry.supports_gradgrad)
        backward = entry.supported_backward_dtypes("cpu")
        return [d for d in known if wanted and d in (torch.float64, torch.complex128) and d in backward]
    if aspect == "errors":
        return [None] if entry.error_inputs_func is not None else []
    supported = {
        "inplace": entry.inplace_variant is not None,
        "out": entry.supports_out,
        "method": entry.method_variant is not None,
    }[aspect]
    preferred = [d for d in known if d is torch.float32] or known
    return preferred[:1] if supported else []
