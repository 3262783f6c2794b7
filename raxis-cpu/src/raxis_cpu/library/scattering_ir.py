"""Loops that combine rows of updates with rows of a result at computed positions, in LLVM IR."""

from __future__ import annotations

import re
from functools import cache

from raxis import dtypes
from raxis.dtypes import DType
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.threads import keep_for_ever

ELEMENTS: dict[DType, str] = {
    dtypes.uint8: "i8",
    dtypes.int8: "i8",
    dtypes.int16: "i16",
    dtypes.int32: "i32",
    dtypes.int64: "i64",
    dtypes.float32: "float",
    dtypes.float64: "double",
}
"""The dtypes that the loops serve, and what LLVM calls their elements."""

_LANES = 8


def _operation(reduce: str, dtype: DType, lanes: int) -> str:
    """Combines %old<lanes> with %new<lanes>."""
    element = ELEMENTS[dtype]
    type = _type(element, lanes)
    if reduce in {"add", "mul"}:
        return f"{'f' if dtype.is_floating_point else ''}{reduce} {type} %old{lanes}, %new{lanes}"
    if dtype.is_floating_point:
        name = {"max": "maximum", "min": "minimum"}[reduce]  # these give NaN if either is NaN
    else:
        name = ("s" if dtype.is_signed else "u") + reduce
    short = {"float": "f32", "double": "f64"}.get(element, element)
    suffix = short if lanes == 1 else f"v{lanes}{short}"
    return f"call {type} @llvm.{name}.{suffix}({type} %old{lanes}, {type} %new{lanes})"


def _type(element: str, lanes: int) -> str:
    return element if lanes == 1 else f"<{lanes} x {element}>"


def _combination(reduce: str, dtype: DType, lanes: int) -> str:
    """Combines the elements at %target<lanes> with those at %source<lanes>."""
    type, align = _type(ELEMENTS[dtype], lanes), dtype.itemsize
    return f"""
  %old{lanes} = load {type}, ptr %target{lanes}, align {align}
  %new{lanes} = load {type}, ptr %source{lanes}, align {align}
  %both{lanes} = {_operation(reduce, dtype, lanes)}
  store {type} %both{lanes}, ptr %target{lanes}, align {align}"""


@cache
def combine_rows(reduce: str, dtype: DType) -> int:
    """Address of the C function ``void(result, index, updates, before, count, size, width)``.

    For every `b` below `before` and `j` below `count`, row ``updates[b, j]`` is combined with row
    ``result[b, index[j]]``, in this order. Rows have `width` elements, and `result` has `size` rows for each `b`.
    """
    text = _ROWS.format(
        triple=host().triple,
        element=ELEMENTS[dtype],
        lanes=_LANES,
        vector=_combination(reduce, dtype, _LANES),
        scalar=_combination(reduce, dtype, 1),
        declarations=_declarations(reduce, dtype),
    )
    code = Code(compile(text, host()))
    keep_for_ever(code)
    return code.address("combine_rows")


def _declarations(reduce: str, dtype: DType) -> str:
    operations = (_operation(reduce, dtype, lanes) for lanes in (1, _LANES))
    calls = [text.removeprefix("call ") for text in operations if text.startswith("call")]
    return "\n".join(f"declare {re.sub(r'%[a-z]+[0-9]', '', call)}" for call in calls)


_ROWS = """
target triple = "{triple}"
{declarations}

define void @combine_rows(ptr %result, ptr %index, ptr %updates, i64 %before, i64 %count, i64 %size, i64 %width) {{
entry:
  %whole = and i64 %width, -{lanes}
  %some = mul i64 %before, %count
  %empty = icmp eq i64 %some, 0
  br i1 %empty, label %done, label %block
block:
  %b = phi i64 [ 0, %entry ], [ %next_b, %block_end ]
  %first = mul i64 %b, %size
  %first_update = mul i64 %b, %count
  br label %row
row:
  %j = phi i64 [ 0, %block ], [ %next_j, %row_end ]
  %index_place = getelementptr i64, ptr %index, i64 %j
  %position = load i64, ptr %index_place, align 8
  %row_number = add i64 %first, %position
  %row_start = mul i64 %row_number, %width
  %target = getelementptr {element}, ptr %result, i64 %row_start
  %update_number = add i64 %first_update, %j
  %update_start = mul i64 %update_number, %width
  %source = getelementptr {element}, ptr %updates, i64 %update_start
  %long = icmp sgt i64 %whole, 0
  br i1 %long, label %vectors, label %rest
vectors:
  %v = phi i64 [ 0, %row ], [ %next_v, %vectors ]
  %target{lanes} = getelementptr {element}, ptr %target, i64 %v
  %source{lanes} = getelementptr {element}, ptr %source, i64 %v{vector}
  %next_v = add i64 %v, {lanes}
  %more_v = icmp slt i64 %next_v, %whole
  br i1 %more_v, label %vectors, label %rest
rest:
  %left = icmp slt i64 %whole, %width
  br i1 %left, label %scalars, label %row_end
scalars:
  %s = phi i64 [ %whole, %rest ], [ %next_s, %scalars ]
  %target1 = getelementptr {element}, ptr %target, i64 %s
  %source1 = getelementptr {element}, ptr %source, i64 %s{scalar}
  %next_s = add i64 %s, 1
  %more_s = icmp slt i64 %next_s, %width
  br i1 %more_s, label %scalars, label %row_end
row_end:
  %next_j = add i64 %j, 1
  %more_j = icmp slt i64 %next_j, %count
  br i1 %more_j, label %row, label %block_end
block_end:
  %next_b = add i64 %b, 1
  %more_b = icmp slt i64 %next_b, %before
  br i1 %more_b, label %block, label %done
done:
  ret void
}}
"""
