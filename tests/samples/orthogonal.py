"""Samples of QR and of products of reflections."""

from __future__ import annotations

from . import given, sample, t

SQUARE = given([[2.0, 1.0, 0.3], [0.4, -1.0, 0.8], [-0.6, 0.9, 0.5]], "float")
TALL = given([[2.0, 1.0], [0.4, -1.0], [-0.6, 0.9]], "float")
WIDE = given([[2.0, 1.0, 0.3], [0.4, -1.0, 0.8]], "float")
COMPLEX = given([[2.0 + 1j, 0.5 - 1j], [0.5 + 1j, -1.0 + 0.3j], [0.1 - 0.2j, 0.7j]], "complex")

SAMPLES = [
    sample("linalg.qr", SQUARE),
    sample("linalg.qr", TALL),
    sample("linalg.qr", WIDE),
    sample("linalg.qr", t(2, 4, 3)),
    sample("linalg.qr", SQUARE, "complete"),
    sample("linalg.qr", TALL, "complete", gradient=False),
    sample("linalg.qr", TALL, "r", gradient=False),
    sample("linalg.qr", COMPLEX, only=("float64",)),
    sample("qr", TALL),
    sample("geqrf", TALL, gradient=False),
    sample("linalg.householder_product", t(4, 3), t(3)),
    sample("linalg.householder_product", t(2, 3, 3), t(2, 2)),
    sample("linalg.householder_product", t(3, 2, kind="complex"), t(2, kind="complex"), only=("float64",)),
    sample("orgqr", t(3, 2), t(2)),
    sample("ormqr", t(4, 2), t(2), t(4, 3)),
    sample("ormqr", t(4, 2), t(2), t(3, 4), False, True),
    sample("ormqr", t(3, 2, kind="complex"), t(2, kind="complex"), t(3, 2, kind="complex"), True, True,
           only=("float64",)),
]  # fmt: skip
