"""The ``torch.backends.cpu`` namespace: what the processor can do."""

from __future__ import annotations


def get_cpu_capability() -> str:
    """The widest vector instructions that NumPy found: "AVX512", "AVX2" or "DEFAULT"."""
    import numpy

    try:
        found = numpy.show_config(mode="dicts")["SIMD Extensions"]["found"]  # type: ignore[call-overload,index]
    except (KeyError, TypeError):
        return "DEFAULT"
    names = " ".join(found)
    if "AVX512" in names or "X86_V4" in names:
        return "AVX512"
    return "AVX2" if "AVX2" in names or "X86_V3" in names else "DEFAULT"
