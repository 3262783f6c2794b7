"""What a schedule is made for: the parts of a program that a backend runs in its own way."""

from __future__ import annotations

from raxis.ptir.program import Instruction, Program


class Target:
    """The abilities of a backend, as far as they change a schedule; a backend derives its own."""

    def renders(self, item: Instruction) -> bool:
        """Whether loop kernels may contain this elementwise instruction; others become library steps."""
        return True

    def claims(self, composite: Program) -> bool:
        """Whether a composite with this decomposition and dense operands is a library step of its own."""
        return False


EVERYTHING = Target()
"""Renders every instruction and claims no composite."""
