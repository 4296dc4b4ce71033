"""The ``torch.utils.collect_env`` namespace: what a report of an error needs to say of a machine."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from typing import NamedTuple

from ..ground.importing import load

_HOME = __name__.partition(".")[0]


class SystemEnv(NamedTuple):
    """What there is to say."""

    torch_version: str
    is_debug_build: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    cpu_info: str
    pip_packages: str


def get_env_info() -> SystemEnv:
    """What there is to say, as a tuple."""
    names = ("numpy", "ml_dtypes", "numba", "scipy", _HOME)
    there = []
    for name in names:
        try:
            there.append(f"{name}=={metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return SystemEnv(
        torch_version=f"{load(f'{_HOME}.torch_version').__version__} ({_HOME} {load(_HOME).RELEASE})",
        is_debug_build="False", os=platform.platform(), libc_version="-".join(platform.libc_ver()),
        python_version=f"{sys.version} ({sys.maxsize.bit_length() + 1}-bit runtime)",
        python_platform=platform.platform(), is_cuda_available="False",
        cpu_info=f"{platform.machine()}, {os.cpu_count()} processors", pip_packages="\n".join(there),
    )  # fmt: skip


def get_pretty_env_info() -> str:
    """What there is to say, as a text.

    Source: https://docs.pytorch.org/docs/stable/collect_env.html
    """
    info = get_env_info()
    lines = [f"{name.replace('_', ' ')}: {value}" for name, value in info._asdict().items() if name != "pip_packages"]
    return "\n".join(
        [*lines, "", "Versions of relevant libraries:", *(f"[pip3] {line}" for line in info.pip_packages.split("\n"))]
    )


def main() -> None:
    """Print it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
