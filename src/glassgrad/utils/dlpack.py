"""What ``torch.utils.dlpack`` holds: the exchange of memory with other libraries, and their names for devices.

Source: https://docs.pytorch.org/docs/stable/dlpack.html
"""

from __future__ import annotations

from enum import IntEnum

from ..families.storage.interchange import from_dlpack, to_dlpack


class DLDeviceType(IntEnum):
    """The kinds of devices that DLPack knows, by its numbers. Source: https://dmlc.github.io/dlpack/latest/c_api.html"""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
