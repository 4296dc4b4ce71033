"""What the processor is and can do, by the names that ``torch.cpu.get_capabilities`` has; knows Linux's files."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

#: PyTorch's names of instructions: those that Linux calls otherwise stand with its word.
_INSTRUCTIONS = """
    aes amx_bf16 amx_fp16 amx_int8 amx_tile avx avx10_1 avx10_2 avx2 avx512_4fmaps avx512_4vnniw
    avx512_bf16 avx512_bitalg avx512_bw=avx512bw avx512_cd=avx512cd avx512_dq=avx512dq avx512_f=avx512f avx512_fp16
    avx512_ifma=avx512ifma avx512_vbmi=avx512vbmi avx512_vbmi2 avx512_vl=avx512vl avx512_vnni avx512_vp2intersect
    avx512_vpopcntdq avx_ne_convert avx_vnni avx_vnni_int16 avx_vnni_int8 bmi=bmi1 bmi2 clflush clflushopt clwb f16c
    fma3=fma fma4 lzcnt=abm popcnt sha=sha_ni sse sse2 sse3=pni sse4_1 sse4_2 sse4a ssse3
""".split()
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@cache
def capabilities() -> Mapping[str, Any]:
    """The processor's name, architecture, cores, caches and instructions; only what the system tells."""
    known: dict[str, Any] = {"architecture": platform.machine(), "num_logical_cores": os.cpu_count()}
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return MappingProxyType(known)
    each = [dict(re.findall(r"^(.*?)\s*: (.*)$", block, re.MULTILINE)) for block in text.strip().split("\n\n")]
    flags = each[0].get("flags", "").split()
    if flags:
        known |= {name: (word or name) in flags for name, _, word in (n.partition("=") for n in _INSTRUCTIONS)}
    if "model name" in each[0]:
        known["cpu_name"] = re.sub(r"\((R|TM)\)| CPU| Processor| @", "", each[0]["model name"])
    sockets = {core.get("physical id", "0") for core in each}
    known["num_sockets"] = len(sockets)
    known["num_physical_cores"] = len(
        {(core.get("physical id"), core.get("core id", n)) for n, core in enumerate(each)}
    )
    for index in sorted(_CACHES.glob("index*")):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction" and level in "12":
            known["l1d_cache_size" if level == "1" else "l2_cache_size"] = int(size.removesuffix("K")) * 1024
    return MappingProxyType(known)
