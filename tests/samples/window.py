"""Samples of windows on memory: strided views, and the rows behind writes through views."""

from tests.samples import sample, t

WINDOW = ((2, 2), (3, 1), 1)  # sizes, strides and offset, in elements

SAMPLES = [
    sample("as_strided", t(3, 4), (2, 3), (4, 1)),
    sample("as_strided", t(3, 4), (2, 3), (2, 3), 1),
    sample("row.as_strided_inplace", t(3, 4), (2, 3), (4, 1)),
    sample("as_strided", t(6), (4, 3), (1, 1), label="overlapping"),
    sample("as_strided", t(3), (2, 3), (0, 1), label="expanded"),
    sample("as_strided", t(4), (), (), 2, label="0d"),
    sample("row.take_window", t(2, 3), WINDOW, (3, 1)),
    sample("row.embed_window", t(2, 2), WINDOW, (2, 3), (3, 1)),
    sample("row.put_window", t(2, 3), t(2, 2), WINDOW, (3, 1)),
    sample("row.put_window", t(3, 2), t(2, 2), ((2, 2), (1, 3), 1), (1, 3), label="columns first"),
]
