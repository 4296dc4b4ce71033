"""The ``torch.utils.cpp_extension`` namespace: there is no C++ to extend, and its functions say so."""

from __future__ import annotations

from typing import Any, NoReturn

_NAMES = {
    "BuildExtension", "CUDAExtension", "CppExtension", "SyclExtension", "include_paths", "library_paths", "load",
    "load_inline", "check_compiler_abi_compatibility", "get_default_build_root", "is_ninja_available",
    "verify_ninja_availability", "get_cxx_compiler",
}  # fmt: skip
CUDA_HOME = ROCM_HOME = None


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'torch.utils.cpp_extension' has no attribute '{name}'")

    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            f"torch.utils.cpp_extension.{name} builds against PyTorch's C++ library, which is not there; write the "
            "operation as a torch.autograd.Function on NumPy arrays instead"
        )

    return refused
