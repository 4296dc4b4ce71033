"""Samples of interpolation and shuffling."""

from __future__ import annotations

from . import sample, t

F = "nn.functional."
UP = F + "interpolate"

SAMPLES = [
    sample(UP, t(2, 3, 5), 8),
    sample(UP, t(2, 3, 5), scale_factor=2),
    sample(UP, t(2, 3, 5, 4), scale_factor=(2.0, 1.5)),
    sample(UP, t(2, 3, 7, 8), (3, 5)),
    sample(UP, t(1, 2, 3, 4, 5), scale_factor=2),
    sample(UP, t(2, 3, 7), 5, mode="nearest-exact"),
    sample(UP, t(2, 3, 5, 4), scale_factor=1.7, mode="nearest-exact"),
    sample(UP, t(1, 2, 3, 4, 5), (2, 6, 7), mode="nearest-exact"),
    sample(UP, t(2, 3, 5), 8, mode="linear"),
    sample(UP, t(2, 3, 5), scale_factor=1.7, mode="linear", align_corners=True),
    sample(UP, t(2, 3, 5, 4), (7, 3), mode="bilinear"),
    sample(UP, t(2, 3, 5, 4), scale_factor=(1.3, 2.0), mode="bilinear"),
    sample(UP, t(2, 3, 5, 4), scale_factor=1.3, mode="bilinear", recompute_scale_factor=True),
    sample(UP, t(2, 3, 5, 4), (9, 1), mode="bilinear", align_corners=True),
    sample(UP, t(2, 3, 5, 4), (5, 4), mode="bilinear"),
    sample(UP, t(2, 2, 4, 6, layout="transposed"), (5, 9), mode="bilinear", label="transposed"),
    sample(UP, t(1, 2, 3, 4, 5), (4, 3, 7), mode="trilinear"),
    sample(UP, t(1, 2, 3, 4, 5), scale_factor=2, mode="trilinear", align_corners=True),
    sample(UP, t(2, 3, 5, 4), (7, 3), mode="bicubic"),
    sample(UP, t(2, 3, 5, 4), scale_factor=2.2, mode="bicubic", align_corners=True),
    sample(UP, t(2, 3, 9, 8), (4, 3), mode="bilinear", antialias=True),
    sample(UP, t(2, 3, 9, 8), (4, 13), mode="bicubic", antialias=True),
    sample(UP, t(2, 3, 9, 8), (4, 3), mode="bicubic", antialias=True, align_corners=True),
    sample(UP, t(2, 3, 9, 8), (4, 12), mode="lanczos", antialias=True),
    sample(UP, t(2, 3, 7), 3, mode="area"),
    sample(UP, t(2, 3, 7, 6), scale_factor=0.5, mode="area"),
    sample(UP, t(1, 2, 4, 5, 6), (2, 3, 3), mode="area"),
    sample(F + "upsample", t(2, 3, 5, 4), scale_factor=2),
    sample(F + "upsample_nearest", t(2, 3, 5, 4), (6, 6)),
    sample(F + "upsample_bilinear", t(2, 3, 5, 4), scale_factor=2),
    sample("row.resampled", t(2, 5), "linear", (7,), False, (None,)),
    sample("row.resampled_back", t(2, 7), "linear", (2, 5), (7,), False, (None,)),
    sample("pixel_shuffle", t(2, 8, 3, 2), 2),
    sample(F + "pixel_shuffle", t(9, 2, 2), 3),
    sample("pixel_unshuffle", t(2, 2, 4, 6), 2),
    sample(F + "pixel_unshuffle", t(2, 1, 2, 4, 4), 2),
    sample("channel_shuffle", t(2, 6, 3), 2),
    sample(F + "channel_shuffle", t(2, 6, 3, 2), 3),
    sample("native_channel_shuffle", t(2, 6, 3), 2, gradient=False),
]
