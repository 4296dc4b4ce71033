"""The ``torch.utils.cpp_extension`` namespace: there is no C++ to extend, and its functions say so."""

from ..ground.absent import refuse_all

_WORDS = (
    "torch.utils.cpp_extension builds against PyTorch's C++ library, which is not there; write the operation as a "
    "torch.autograd.Function on NumPy arrays instead"
)
CUDA_HOME = ROCM_HOME = None
globals().update(refuse_all(
    RuntimeError, _WORDS,
    "BuildExtension CUDAExtension CppExtension SyclExtension include_paths library_paths load load_inline "
    "check_compiler_abi_compatibility get_default_build_root is_ninja_available verify_ninja_availability "
    "get_cxx_compiler",
    "Refused: there is no C++ to extend.",
))  # fmt: skip
