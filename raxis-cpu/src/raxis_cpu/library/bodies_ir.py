"""Functions in LLVM IR over a description, an array of 64-bit integers, and bodies of tasks that have a workspace."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from raxis_cpu.library.panels_ir import panel_width
from raxis_cpu.llvm.ir import I1, I64, PTR, Function, Type, Value

MOST_WORKSPACES = 64
"""There is a bit for each in one integer."""


def unused(workspaces: int) -> int:
    """What USED is at first: bits of workspaces that do not exist are taken."""
    return -1 << workspaces if workspaces < MOST_WORKSPACES else 0


class Slots(IntEnum):
    """A base for enumerations of what stands where in a description: members are numbered from 0 by ``auto()``."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:  # noqa: ARG004
        return count


class Writer:
    """A function whose first argument is a description with the given slots.

    A body of tasks needs slots USED (bits of the workspaces in use), WORKSPACES, WORKSPACE_BYTES, and STRANGE, which
    becomes 1 if a result is not finite.
    """

    def __init__(self, vector: Type, header: str, slots: type[Slots]) -> None:
        self.function = Function(header)
        self.vector = vector
        self.element = Type(vector.element)
        self.width = panel_width(vector)
        self.size = vector.bits // 8
        self.slots = slots
        self._values = {slot: self.function.load(I64, self.place(slot)) for slot in slots}

    def place(self, slot: Slots) -> Value:
        """The address of a slot."""
        return self.function.advance(self.pointer("description"), int(slot), 8)

    def __getitem__(self, slot: Slots) -> Value:
        return self._values[slot]

    def integer(self, name: str) -> Value:
        """An argument."""
        return self.function.argument(I64, name)

    def pointer(self, name: str) -> Value:
        """An argument."""
        return self.function.argument(PTR, name)

    def address(self, slot: Slots, offset: Value | int = 0) -> Value:
        """`offset` elements after the address in a slot."""
        return self.moved(self.function.emit(PTR, f"inttoptr {self[slot]} to ptr"), offset)

    def number_at(self, slot: Slots, index: Value) -> Value:
        """An integer of the table whose address is in a slot."""
        table = self.function.emit(PTR, f"inttoptr {self[slot]} to ptr")
        return self.function.load(I64, self.function.advance(table, index, 8))

    def moved(self, start: Value, offset: Value | int) -> Value:
        """The address `offset` elements further on."""
        return self.function.advance(start, offset, self.size)

    def row(self, start: Value, number: Value | int) -> Value:
        """The address of a row of a panel."""
        return self.moved(start, number * self.width)

    def part(self, workspace: Value, slot: Slots) -> Value:
        """Where a part of a workspace begins."""
        return self.function.advance(workspace, self[slot], 1)

    def divided(self, number: Value, by: Value) -> tuple[Value, Value]:
        """Quotient and remainder."""
        quotient = self.function.emit(I64, f"sdiv {number}, {by.name}")
        return quotient, number - quotient * by

    def rest(self, total: Value, first: Value, most: Value | int) -> Value:
        """How much is left from `first` on, at most `most`."""
        return (total - first).intrinsic("smin", most)

    def run(self, name: str, *arguments: Value | int) -> None:
        """Call a function; numbers are int64."""
        values = [
            item if isinstance(item, Value) else self.function.constant(I64, item) for item in arguments
        ]
        self.function.line(f"call void @{name}({', '.join(map(str, values))})")

    def flag(self, value: bool) -> Value:
        """A truth value."""
        return self.function.constant(I1, value)


class Body(Writer):
    """A body: its tasks have a workspace, and where they note results that are not finite."""

    def __init__(self, vector: Type, name: str, slots: type[Slots]) -> None:
        super().__init__(vector, f"void @{name}(ptr %description, i64 %begin, i64 %end)", slots)
        self.bit = self.function.call(I64, "@take_workspace", self.place(slots["USED"]))
        spaces = self.function.emit(PTR, f"inttoptr {self[slots['WORKSPACES']]} to ptr")
        self.workspace = self.function.advance(spaces, self.bit * self[slots["WORKSPACE_BYTES"]], 1)
        self.check = self.function.room(vector)

    def end(self) -> str:
        """Give the workspace back, note what is not finite."""
        function = self.function
        strange = function.load(self.vector, self.check).compare("ne", 0)
        bits = Type(f"i{self.vector.lanes}")
        some = function.emit(bits, f"bitcast {strange} to {bits}").compare("ne", 0)
        with function.when(some):
            function.store(function.constant(I64, 1), self.place(self.slots["STRANGE"]))
        used, bit = self.place(self.slots["USED"]), function.constant(I64, 1) << self.bit
        function.emit(I64, f"atomicrmw xor ptr {used.name}, {bit} release")
        function.line("ret void")
        return function.text

    def call(self, name: str, *arguments: Value | int) -> None:
        """Run a function on this description and workspace."""
        self.run(name, self.pointer("description"), self.workspace, *arguments)


def body_ir(vector: Type, name: str, slots: type[Slots], write: Callable[[Body, Value], None]) -> str:
    """A body for `parallel_for` whose argument is a description; `write` writes one task."""
    body = Body(vector, name, slots)
    with body.function.loop(body.integer("begin"), body.integer("end")) as task:
        write(body, task)
    return body.end()


_TAKE = """
; Claim the first workspace that is free; all are taken only if there are more threads than bits.
define internal i64 @take_workspace(ptr %used) {
entry:
  br label %look
look:
  %bits = load atomic i64, ptr %used monotonic, align 8
  %free = xor i64 %bits, -1
  %number = call i64 @llvm.cttz.i64(i64 %free, i1 false)
  %none = icmp eq i64 %free, 0
  br i1 %none, label %look, label %claim
claim:
  %bit = shl i64 1, %number
  %taken = or i64 %bits, %bit
  %result = cmpxchg ptr %used, i64 %bits, i64 %taken acquire monotonic
  %success = extractvalue { i64, i1 } %result, 1
  br i1 %success, label %done, label %look
done:
  ret i64 %number
}
"""

INTRINSICS = _TAKE + "\ndeclare i64 @llvm.cttz.i64(i64, i1)\n"
"""What bodies call."""
