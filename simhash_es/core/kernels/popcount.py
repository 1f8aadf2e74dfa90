"""Bit counting as single machine instructions, eight values at a time where many are compared with one.

The vector forms emit LLVM vectors directly, because its loop vectoriser gives up on short loops with an early exit.
LLVM lowers them to whatever the processor has (VPOPCNTQ, byte shuffles, NEON CNT).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 8  # values compared at once: one 64-byte cache line; 16 and 32 measured slower

_I64 = ir.IntType(64)
_VECTOR = ir.VectorType(_I64, BLOCK)
_COLUMN = types.Array(types.uint64, 1, "C")


def _splat(builder: Any, value: Any) -> Any:
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    single = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, undefined, ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK))


def _load(context: Any, builder: Any, column: Any, position: Any) -> Any:
    data = context.make_array(_COLUMN)(context, builder, column).data
    return builder.load(builder.bitcast(builder.gep(data, [position]), _VECTOR.as_pointer()), align=8)


def _ones_of_difference(builder: Any, block: Any, value: Any) -> Any:
    signature = ir.FunctionType(_VECTOR, [_VECTOR])
    count = cgutils.get_or_insert_function(builder.module, signature, f"llvm.ctpop.v{BLOCK}i64")
    return builder.call(count, [builder.xor(block, _splat(builder, value))])


def _smaller(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.icmp_unsigned("<", x, y), x, y)


def _bits_within(builder: Any, counts: Any, limit: Any) -> Any:
    within = builder.icmp_unsigned("<=", counts, _splat(builder, limit))
    return builder.zext(builder.bitcast(within, ir.IntType(BLOCK)), _I64)


@intrinsic
def ones(_typing: Any, value: Any) -> Any:
    """Number of set bits of one ``uint64``."""

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def bit_length(_typing: Any, value: Any) -> Any:
    """``1 + floor(log2 value)`` of one ``int32`` that is not negative; 0 for 0."""

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = builder.zext(arguments[0], _I64)
        return builder.sub(ir.Constant(_I64, 64), builder.ctlz(wide, ir.Constant(ir.IntType(1), 0)))

    return types.int64(types.int32), codegen


@intrinsic
def lowest(_typing: Any, value: Any) -> Any:
    """Position of the lowest set bit of one ``uint64`` that is not zero."""

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def near_block(_typing: Any, column: Any, position: Any, value: Any, limit: Any) -> Any:
    """Compare eight stored values with one other.

    Bit t of the result is set iff ``column[position + t]`` (t = 0..7) is within ``limit`` bits of ``value``. The column
    must reach to ``position + 7``; nothing is checked.
    """

    def codegen(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        counts = _ones_of_difference(builder, _load(context, builder, arguments[0], arguments[1]), arguments[2])
        return _bits_within(builder, counts, arguments[3])

    return types.uint64(_COLUMN, types.int64, types.uint64, types.uint64), codegen


@intrinsic
def near_any_of_four(_typing: Any, column: Any, position: Any, a: Any, b: Any, c: Any, d: Any, limit: Any) -> Any:
    """Like :func:`near_block` for four values at once: bit t is set iff at least one of them is near.

    One comparison serves 32 pairs: the smallest of the four counts decides.
    """

    def codegen(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        block = _load(context, builder, arguments[0], arguments[1])
        first, second, third, fourth = (_ones_of_difference(builder, block, value) for value in arguments[2:6])
        least = _smaller(builder, _smaller(builder, first, second), _smaller(builder, third, fourth))
        return _bits_within(builder, least, arguments[6])

    return types.uint64(_COLUMN, types.int64, *[types.uint64] * 5), codegen
