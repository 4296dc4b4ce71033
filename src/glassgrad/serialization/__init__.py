"""Floor 5: checkpoints; reads and writes PyTorch's files, knows tensors, nothing of layers."""

from .allowed import StorageType, add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from .legacy import SourceChangeWarning
from .location import (
    MAP_LOCATION,
    default_restore_location,
    location_tag,
    register_package,
    validate_cuda_device,
    validate_hpu_device,
)
from .options import (
    LoadEndianness,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from .reading import get_unsafe_globals_in_checkpoint, load
from .rebuild import _get_layout
from .writing import DEFAULT_PROTOCOL, save

__all__ = [
    "DEFAULT_PROTOCOL", "LoadEndianness", "MAP_LOCATION", "SourceChangeWarning", "StorageType", "_get_layout",
    "add_safe_globals", "clear_safe_globals", "default_restore_location", "get_crc32_options",
    "get_default_load_endianness", "get_default_mmap_options", "get_safe_globals",
    "get_unsafe_globals_in_checkpoint", "load", "location_tag", "register_package", "safe_globals", "save",
    "set_crc32_options", "set_default_load_endianness", "set_default_mmap_options", "skip_data",
    "validate_cuda_device", "validate_hpu_device",
]  # fmt: skip
