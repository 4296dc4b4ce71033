"""Where storages go: the tags that say where they were, ``map_location``, and the registry of devices."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..families.storage.functions import UntypedStorage
from ..ground import device as devices
from ..tensor.typename import typename

MAP_LOCATION = Callable[[Any, str], Any] | devices.device | str | dict[str, str] | None
_REGISTRY: list[tuple[int, Callable[[Any], str | None], Callable[[Any, str], Any]]] = []


def register_package(
    priority: int, tagger: Callable[[Any], str | None], deserializer: Callable[[Any, str], Any]
) -> None:
    """Teach saving and loading about a kind of device.

    ``tagger(storage)`` gives the tag to save a storage under, ``deserializer(storage, tag)`` moves a loaded storage to
    where its tag says; both give None for what is not theirs. Lower priorities are asked first.
    Source: https://docs.pytorch.org/docs/stable/notes/serialization.html
    """
    _REGISTRY.append((priority, tagger, deserializer))
    _REGISTRY.sort(key=lambda entry: entry[0])


def validate_device(location: str, backend: str) -> Any:
    """PyTorch's RuntimeError: there is no device of this kind."""
    if backend not in ("cuda", "xpu", "mtia"):
        raise RuntimeError(
            f"The {backend.upper()} device module is not registered. If you are running on a CPU-only machine, please "
            "use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
        )
    devices.device(location)
    raise RuntimeError(
        f"Attempting to deserialize object on a {backend.upper()} device but torch.{backend}.is_available() is False. "
        "If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map "
        "your storages to the CPU."
    )


def validate_cuda_device(location: str) -> Any:
    """PyTorch's RuntimeError: there is no CUDA device."""
    return validate_device(location, "cuda")


def validate_hpu_device(location: str) -> Any:
    """PyTorch's RuntimeError: there is no HPU device."""
    return validate_device(location, "hpu")


def _elsewhere(backend: str) -> Callable[[Any, str], Any]:
    def restore(storage: Any, location: str) -> Any:
        if location == backend or re.match(f"{backend}(:|[0-9]+)", location):
            validate_device(location, backend)
        return None

    return restore


def _mps(storage: Any, location: str) -> Any:
    if location.startswith("mps"):
        raise RuntimeError("torch.UntypedStorage(): Storage device not recognized: mps")


register_package(10, lambda s: "cpu" if s.device.type == "cpu" else None, lambda s, tag: s if tag == "cpu" else None)
register_package(20, lambda s: None, _elsewhere("cuda"))
register_package(21, lambda s: None, _mps)
register_package(
    22,
    lambda s: "meta" if s.device.type == "meta" else None,
    lambda s, tag: UntypedStorage(s.nbytes(), device="meta") if tag == "meta" else None,
)
for _priority, _backend in (23, "privateuseone"), (24, "hpu"), (25, "xpu"), (26, "mtia"):
    register_package(_priority, lambda s: None, _elsewhere(_backend))


def location_tag(storage: Any) -> str:
    """The tag that a storage is saved under: ``cpu``."""
    for _, tagger, _ in _REGISTRY:
        tag = tagger(storage)
        if tag:
            return tag
    raise RuntimeError("don't know how to determine data location of " + typename(storage))


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage where its tag says; RuntimeError where nobody knows the tag or the device is not there."""
    for _, _, restore in _REGISTRY:
        restored = restore(storage, location)
        if restored is not None:
            return restored
    raise RuntimeError(f"don't know how to restore data location of {typename(storage)} (tagged with {location})")


def restorer(map_location: Any) -> Callable[[Any, str], Any]:
    """What moves a loaded storage, given its tag, as ``torch.load``'s ``map_location`` says."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, tag: default_restore_location(storage, map_location.get(tag, tag))
    if isinstance(map_location, bytes):
        map_location = map_location.decode("ascii")
    if isinstance(map_location, (str, devices.device)):
        return lambda storage, tag: default_restore_location(storage, str(map_location))

    def restore(storage: Any, tag: str) -> Any:
        restored = map_location(storage, tag)
        return default_restore_location(storage, tag) if restored is None else restored

    return restore


def is_meta(map_location: Any) -> bool:
    """Whether everything goes to the meta device, so that no bytes need be read."""
    return map_location == "meta" or isinstance(map_location, devices.device) and map_location.type == "meta"
