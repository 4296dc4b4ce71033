"""Samples of limits, of what replaces the infinite, and of functions of two variables."""

from tests.samples import T, given, ints, positive, sample, t

_AWAY = t(2, 3, away=0.1)
_OTHER = t(2, 3, low=-1.9, high=2.1, away=0.1)
_ROW = t(3, low=-1.9, high=2.1, away=0.1)
_LOW, _HIGH = T((2, 3), low=-1.0, high=-0.2), T((2, 3), low=0.2, high=1.0)
_ODD = given([float("nan"), float("inf"), float("-inf"), 1.5], kind="float")
_COMPLEX = t(2, 3, kind="complex")

SAMPLES = [
    sample("clamp", _AWAY, -0.75, 0.75, inplace=True),
    sample("clamp", _AWAY, min=-0.75, inplace=True),
    sample("clamp", _AWAY, max=0.75),
    sample("clamp", _AWAY, 1.25, -1.25, label="crossed"),
    sample("clamp", t(3000, away=1e-5), -0.5, 0.5, label="many"),
    sample("clamp", ints(5, low=-3, high=4), -1, 2, inplace=True),
    sample("clamp", ints(5, low=-3, high=4), min=0.5),
    sample("clamp", _AWAY, _LOW, _HIGH, inplace=True),
    sample("clamp", _AWAY, _LOW, None),
    sample("clamp", _AWAY, None, _HIGH),
    sample("clamp", _AWAY, _HIGH, _LOW, label="crossed,tensors"),
    sample("clamp", _AWAY, T((3,), low=-1.0, high=-0.2), T((2, 1), low=0.2, high=1.0)),
    sample("clip", _AWAY, -0.75, 0.75, inplace=True),
    sample("clamp_min", _AWAY, 0.25, inplace=True),
    sample("clamp_min", _AWAY, _LOW, inplace=True),
    sample("clamp_max", _AWAY, 0.25, inplace=True),
    sample("clamp_max", _AWAY, _HIGH, inplace=True),
    sample("nan_to_num", _ODD, inplace=True, gradient=False),
    sample("nan_to_num", _ODD, nan=1.0, posinf=2.0, neginf=-2.0, gradient=False),
    sample("nan_to_num", t(2, 3)),
    sample("nan_to_num", ints(3)),
    sample("deg2rad", t(2, 3), inplace=True),
    sample("rad2deg", t(2, 3), inplace=True),
    sample("deg2rad", ints(3)),
    sample("atan2", _AWAY, _OTHER, inplace=True),
    sample("atan2", _AWAY, _ROW),
    sample("atan2", ints(3), ints(3), only=("float32",)),
    sample("arctan2", _AWAY, _OTHER),
    sample("hypot", _AWAY, _OTHER, inplace=True),
    sample("hypot", _AWAY, _ROW),
    sample("copysign", _AWAY, _OTHER, inplace=True),
    sample("copysign", _AWAY, _ROW),
    sample("copysign", _AWAY, -1.0, inplace=True),
    sample("copysign", ints(3), -1),
    sample("heaviside", _AWAY, _OTHER, gradient=False, inplace=True),
    sample("heaviside", ints(5, low=-2), ints(5)),
    sample("xlogy", _AWAY, positive(2, 3), inplace=True),
    sample("xlogy", _AWAY, positive(3)),
    sample("xlogy", _AWAY, 2.5, inplace=True),
    sample("xlogy", 2.5, positive(3)),
    sample("xlogy", given([0.0, 0.0, 1.0], kind="float"), given([0.0, 2.0, 3.0], kind="float"), gradient=False),
    sample("logaddexp", _AWAY, _OTHER),
    sample("logaddexp", _AWAY, _ROW),
    sample("logaddexp2", _AWAY, _OTHER),
    sample("logaddexp2", _AWAY, _ROW),
    sample("ldexp", _AWAY, ints(2, 3), inplace=True),
    sample("ldexp", _AWAY, _ROW),
    sample("ldexp", ints(3), ints(3)),
]
