"""Vectors of numbers, as long as the processor's, and LLVM's instructions on them: what tiles are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from llvmlite.binding import get_host_cpu_features  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils

try:
    WIDE = bool(get_host_cpu_features().get("avx512f"))
except RuntimeError:  # the processor does not tell
    WIDE = False
BYTES = 64 if WIDE else 32  # a vector
#: Rows of the largest tile: its results, with what they are made of, fit the registers.
HEIGHT = 8 if WIDE else 4


def lanes(kind: np.dtype[Any]) -> int:
    """How many numbers of a dtype a vector has."""
    return BYTES // kind.itemsize


class Words:
    """What the tiles are written with: LLVM's instructions on vectors of one element type."""

    def __init__(self, context: Any, builder: Any, kind: Any) -> None:
        self.builder, self.size = builder, kind.bitwidth // 8
        self.n = BYTES // self.size
        self.number = context.get_value_type(kind)
        self.vector = ir.VectorType(self.number, self.n)
        self.unset, self.nought = ir.Constant(self.vector, ir.Undefined), ir.Constant(self.vector, None)
        self.whole = context.get_value_type(types.intp)
        self.fused = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(self.vector, [self.vector] * 3), f"llvm.fmuladd.v{self.n}f{8 * self.size}"
        )

    def grid(self, pointer: Any, row: Any, rows: int, vectors: int) -> list[Any]:
        """The places of a tile's vectors, those of a row side by side, its rows ``row`` numbers apart."""
        builder, whole = self.builder, self.whole
        return [
            builder.gep(pointer, [builder.add(builder.mul(row, whole(r)), whole(part * self.n))])
            for r in range(rows)
            for part in range(vectors)
        ]

    def load(self, pointer: Any) -> Any:
        vector = self.builder.load(self.builder.bitcast(pointer, self.vector.as_pointer()))
        vector.align = self.size
        return vector

    def store(self, value: Any, pointer: Any, aligned: int | None = None) -> None:
        stored = self.builder.store(value, self.builder.bitcast(pointer, self.vector.as_pointer()))
        stored.align = aligned or self.size

    def spread(self, pointer: Any) -> Any:
        """One number in all lanes."""
        i32 = ir.IntType(32)
        single = self.builder.insert_element(self.unset, self.builder.load(pointer), i32(0))
        return self.builder.shuffle_vector(single, self.unset, ir.Constant(ir.VectorType(i32, self.n), None))

    def fetch(self, pointer: Any) -> None:
        """Have a line of the cache brought near, which nobody waits for."""
        byte, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        function = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0i8")
        self.builder.call(function, [self.builder.bitcast(pointer, byte), i32(0), i32(3), i32(1)])

    def zipped(self, a: Any, b: Any, upper: bool) -> Any:
        """The lower or upper halves of two vectors, their lanes by turns."""
        i32, first = ir.IntType(32), self.n // 2 * upper
        order = [lane for left in range(first, first + self.n // 2) for lane in (left, left + self.n)]
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(i32, self.n), order))

    def turned(self, rows: list[Any]) -> list[Any]:
        """A square of numbers, transposed."""
        half, width = len(rows) // 2, 1
        while width < self.n:
            rows = [
                self.zipped(rows[row], rows[row + half], upper) for row in range(half) for upper in (False, True)
            ]
            width *= 2
        return rows

    def totals(self, vectors: list[Any]) -> Any:
        """The sums of the lanes of up to ``n`` vectors, as the lanes of one."""
        vectors = vectors + [self.nought] * (self.n - len(vectors))
        while len(vectors) > 1:
            half = len(vectors) // 2
            vectors = [
                self.builder.fadd(self.zipped(a, b, False), self.zipped(a, b, True))
                for a, b in zip(vectors[:half], vectors[half:], strict=True)
            ]
        return vectors[0]
