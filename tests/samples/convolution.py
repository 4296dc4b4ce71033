"""Samples of convolutions, plain and transposed, and of windows as columns."""

from __future__ import annotations

from . import ints, sample, t

_COMPLEX = "torch computes it as three real ones"

SAMPLES = [
    sample("conv1d", t(2, 3, 7), t(4, 3, 3)),
    sample("conv1d", t(2, 4, 7), t(6, 2, 3), t(6), stride=2, padding=1, dilation=2, groups=2),
    sample("conv1d", t(3, 7), t(4, 3, 3), t(4), padding=1),
    sample("conv1d", t(2, 3, 7), t(4, 3, 2), t(4), padding="same"),
    sample("conv1d", t(2, 3, 7), t(4, 3, 2), padding="valid", stride=3),
    sample("conv2d", t(2, 3, 5, 6), t(4, 3, 3, 2), t(4)),
    sample("conv2d", t(2, 4, 6, 5), t(4, 2, 3, 3), t(4), (2, 1), (1, 2), (1, 2), 2),
    sample("conv2d", t(3, 5, 5), t(2, 3, 3, 3), None, 1, 1),
    sample("conv2d", t(2, 3, 4, 4), t(5, 3, 1, 1), t(5)),
    sample("conv2d", t(2, 3, 7, 7), t(5, 3, 1, 1), t(5)),
    sample("conv2d", t(2, 3, 5, 5), t(6, 1, 3, 3), t(6), padding=1, groups=3),
    sample("conv2d", t(2, 3, 5, 5), t(2, 3, 3, 3), padding="same", dilation=2),
    sample("conv2d", t(2, 3, 4, 5, layout="transposed"), t(2, 3, 2, 2, layout="strided")),
    sample("conv2d", t(0, 3, 4, 5), t(2, 3, 2, 2), t(2)),
    sample("conv2d", t(1, 2, 16, 17), t(3, 2, 3, 3), t(3)),
    sample("conv2d", ints(2, 3, 4, 5), ints(2, 3, 2, 2)),
    sample(
        "conv2d", t(2, 2, 4, 4, kind="complex"), t(3, 2, 2, 2, kind="complex"), t(3, kind="complex"), names=False,
        why=_COMPLEX,
    ),
    sample("conv3d", t(2, 2, 4, 3, 4), t(3, 2, 2, 2, 3), t(3), padding=(0, 1, 1), stride=(2, 1, 1)),
    sample("conv3d", t(2, 3, 3, 3), t(2, 2, 2, 2, 2)),
    sample("conv_transpose1d", t(2, 3, 5), t(3, 4, 3), t(4)),
    sample("conv_transpose1d", t(4, 5), t(4, 2, 3), t(4), 3, 1, 2, 2, 2),
    sample("conv_transpose2d", t(2, 3, 4, 3), t(3, 2, 3, 2), t(2)),
    sample("conv_transpose2d", t(2, 4, 3, 3), t(4, 2, 2, 3), None, (2, 3), (0, 1), (1, 2), 2),
    sample("conv_transpose2d", t(2, 2, 3, 3), t(2, 2, 3, 3), t(2), dilation=2, output_padding=1),
    sample("conv_transpose2d", t(0, 2, 3, 3), t(2, 2, 3, 3), t(2)),
    sample(
        "conv_transpose2d", t(1, 2, 3, 3, kind="complex"), t(2, 1, 2, 2, kind="complex"), names=False, why=_COMPLEX
    ),
    sample("conv_transpose3d", t(2, 2, 2, 3, 2), t(2, 3, 2, 2, 2), t(3), stride=2, padding=1),
    sample("convolution", t(2, 3, 5), t(4, 3, 2), t(4), [1], [1], [2], False, [0], 1),
    sample("convolution", t(2, 3, 4, 4), t(3, 2, 2, 2), None, [2], [0], [1], True, [1], 1),
    sample("nn.functional.conv2d", t(1, 2, 4, 4), t(2, 2, 3, 3), stride=[2, 1]),
    sample("conv_tbc", t(5, 2, 3), t(3, 3, 4), t(4)),
    sample("conv_tbc", t(5, 2, 3), t(2, 3, 4), t(4), 1),
    sample("nn.functional.unfold", t(2, 3, 5, 6), (2, 3)),
    sample("nn.functional.unfold", t(3, 6, 5), 2, 2, 1, (1, 2)),
    sample("nn.functional.fold", t(2, 12, 12), (4, 5), 2),
    sample("nn.functional.fold", t(8, 9), (5, 5), 2, 2, 1, 2),
]
