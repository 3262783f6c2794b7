"""Faults of what a plugin says of itself, and of its module."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.dtypes import DType
from raxis.ptir import Program
from tests.testing.loopback import Call, Loopback
from tests.testing.planting import (
    MODULES,
    fault,
)


def _denies(primitive: str, dtype: DType) -> Any:
    return f"{primitive} of {dtype.name} does not run on this device." if primitive == "exp" else True


@fault("primitives/exp*")
class DeniesWhatRuns(Loopback):
    supports = staticmethod(_denies)  # type: ignore[assignment]


class _Refusing(Loopback):
    text = ""

    def compile(self, program: Program, *rest: Any, **options: Any) -> Any:
        if any(item.primitive == "exp" for item in program.instructions):
            raise NotImplementedError(self.text)
        return super().compile(program, *rest, **options)


@fault("primitives/exp*")
class ClaimsWhatDoesNotRun(_Refusing):
    text = "exp does not run."


@fault("primitives/exp*")
class RefusesWithoutNames(_Refusing):
    text = "not implemented"
    supports = staticmethod(_denies)  # type: ignore[assignment]


@fault("primitives/exp*")
class DeniesWithoutReason(_Refusing):
    supports = staticmethod(lambda primitive, dtype: primitive != "exp")  # type: ignore[assignment]


@fault("primitives/exp*")
class RefusesWithTheWrongError(_Refusing):
    supports = staticmethod(_denies)  # type: ignore[assignment]

    def compile(self, program: Program, *rest: Any, **options: Any) -> Any:
        try:
            return super().compile(program, *rest, **options)
        except NotImplementedError:
            raise RuntimeError("exp of float32 does not run on RefusesWithTheWrongError.") from None


@fault("dtypes/*")
class ClaimsADtypeThatDoesNotRun(Loopback):
    def compile(self, program: Program, *rest: Any, **options: Any) -> Any:
        if any(value.type.dtype is dtypes.bfloat16 for value in program.results):
            raise NotImplementedError(f"add of bfloat16 does not run on {self.name}.")
        return super().compile(program, *rest, **options)


@fault("composites/softmax")
class WrongComposite(Loopback):
    """Claims a composite and computes something else."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.composites = {"softmax": self._halved}

    def _halved(self, program: Program, inputs: Any, outputs: Any) -> Any:
        run = Call(self, program, inputs, outputs, 0)

        def kernel(*arguments: Any) -> None:
            run(*arguments)
            run.results(arguments)[0][...] *= 0.5

        return kernel


@fault("programs/claimed_composites")
class UnknownComposite(Loopback):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.composites = {"layer_nrom": lambda *_: None}


GOOD = """
API = (1, 0)
def probe():
    return None
def load():
    from tests.testing.loopback import Loopback
    return Loopback({name!r})
"""

MODULES["HeavyModule"] = ("import numpy\n" + GOOD, "packaging/*")
MODULES["FutureApi"] = (GOOD.replace("(1, 0)", "(1, 99)"), "packaging/*")
MODULES["ProbeSaysFalse"] = (GOOD.replace("return None", "return False", 1), "packaging/*")
MODULES["LoadsNoBackend"] = (GOOD.replace("Loopback({name!r})", "object()"), "packaging/*")
MODULES["ChangesWarnings"] = (
    GOOD.replace("    return Loop", "    import warnings; warnings.simplefilter('ignore')\n    return Loop"),
    "packaging/*",
)
MODULES["ChangesTensor"] = (
    GOOD.replace("    return Loop", "    import raxis; raxis.Tensor.foo = 3\n    return Loop"),
    "packaging/*",
)
MODULES["ChangesDefaultDevice"] = (
    GOOD.replace("    return Loop", "    import raxis; raxis.set_default_device('meta')\n    return Loop"),
    "packaging/*",
)
MODULES["Exits"] = (
    GOOD.replace("    return Loop", "    raise SystemExit(3)\n    return Loop"),
    "packaging/*",
)
