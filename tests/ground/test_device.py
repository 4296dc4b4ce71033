"""Devices: how they are spelled, which exist, and the default of the block and of the thread."""

import copy
import pickle
import threading

import numpy as np
import pytest

from glassgrad.ground import dtypes
from glassgrad.ground.device import TYPES, device, get_default_device, require, set_default_device


@pytest.fixture(autouse=True)
def default_restored():
    yield
    set_default_device(None)


def outcome(call, *args, **kwargs):
    try:
        return repr(call(*args, **kwargs))
    except Exception as error:
        return type(error).__name__, str(error)


def test_spelling():
    place = device("cuda:1")
    assert (place.type, place.index, str(place), f"{place}") == ("cuda", 1, "cuda:1", "cuda:1")
    assert repr(place) == "device(type='cuda', index=1)" and repr(device("cpu")) == "device(type='cpu')"
    assert place == device("cuda", 1) == device(place) and hash(place) == hash(device("cuda", 1))
    assert place != device("cuda") and place != "cuda:1" and device("cpu") != device("cpu:0")


def test_copies():
    for place in (device("cpu"), device("cuda:1")):
        assert copy.deepcopy(place) == pickle.loads(pickle.dumps(place)) == place


GIVEN = [
    (), ("cpu",), ("cpu", 0), ("cpu", 1), ("cpu", -1), ("cpu:0",), ("cpu:1", 0), ("cpu:-1",), ("cpu:01",), ("cpu:",),
    ("cpu:a",), ("cpu:1:2",), ("",), ("CPU",), ("foo",), ("cuda:1",), ("cuda", 1), ("meta", 3), (1,), (-1,), (None,),
    (1.5,), ("cuda", 1.5), ("cuda", "1"), ("cuda", None), ("cpu", True), (True,), (b"cpu",), ("cpu ",), (" cpu",),
    ("cuda:1a",), ("cuda:99999999999",), ("cpu", 0, 1), ("cpu0",), (":0",), (np.int64(1),), ("cuda", np.int64(1)),
    ("cpu:1", None), ("foo", -1), ("foo", 1.5), ("", 1), ("cpu:x", 1), ("a b",), ("cpu_x",), ("foo:99999999999",),
    ("cuda", np.bool_(True)), (1, 2), (None, 2), ("cuda:2147483648",), ("cpu\n",),
    *((name,) for name in TYPES if name != "mkldnn"),
]  # fmt: skip
KEYWORDS = [
    {"type": "cpu"}, {"type": "cuda", "index": 1}, {"device": "cpu"}, {"device": 1}, {"index": 1}, {"foo": 1},
    {"type": "cuda:1", "index": 1}, {"type": 1}, {"type": "cpu", "foo": 1}, {"device": "cpu", "index": 1},
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("args", GIVEN, ids=repr)
def test_construction_as_torch(args):
    from tests.torch_reference import torch

    assert outcome(device, *args) == outcome(torch.device, *args)


@pytest.mark.torch
@pytest.mark.parametrize("kwargs", KEYWORDS, ids=repr)
def test_keywords_as_torch(kwargs):
    from tests.torch_reference import torch

    assert outcome(device, **kwargs) == outcome(torch.device, **kwargs)
    if len(kwargs) == 1:  # torch names two of them in an order of its own
        assert outcome(device, "cpu", **kwargs) == outcome(torch.device, "cpu", **kwargs)


@pytest.mark.torch
def test_refusals_as_torch():
    from tests.torch_reference import torch

    for ours, theirs in ((dtypes.float32, torch.float32), (device("cpu"), torch.device("cpu"))):
        assert outcome(device, ours, 0) == outcome(torch.device, theirs, 0)
        assert outcome(device, ours) == outcome(torch.device, theirs)
    for library in (device, torch.device):
        place = library("cuda:1")
        with pytest.raises(AttributeError, match="attribute 'type' of 'torch.device' objects is not writable"):
            place.type = "cpu"
        with pytest.raises(AttributeError, match="'torch.device' object has no attribute 'x'"):
            place.x = 1
        with pytest.raises(TypeError, match="comparison not implemented"):
            _ = place < place
        with pytest.raises(TypeError, match="'torch.device' is not an acceptable base type"):
            type("Mine", (library,), {})


def test_mkldnn_warns_each_time():
    for _ in range(2):
        with pytest.warns(UserWarning, match="'mkldnn' is no longer used as device type"):
            device("mkldnn")


# --- which exist ------------------------------------------------------------------------------------------------------


def test_what_exists():
    for given in (None, "cpu", "cpu:0", "cpu:1", b"cpu", device("cpu", 3)):
        assert require(given) == "cpu"
    assert require("meta") == require(device("meta:1")) == "meta"
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        require("cuda")


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:'mkldnn'")
@pytest.mark.parametrize("name", [*TYPES, "cuda:1", "mps:0", "foo", "cpu:x"])
def test_absent_devices_as_torch(name):
    from tests.torch_reference import torch

    for function, call in (
        ("zeros", lambda: torch.zeros(1, device=name).device.type),
        ("to", lambda: torch.zeros(1).to(name).device.type),
        ("tensor", lambda: torch.tensor(1.0, device=name).device.type),
    ):
        ours, theirs = outcome(require, name, function), outcome(call)
        if ours[0] == "NotImplementedError":  # torch goes on with a list of its own backends
            ours, theirs = (x[0] + x[1][: x[1].index(" (if using custom build)")] for x in (ours, theirs))
        elif "grandfathered" in ours[1]:  # torch surrounds it with a place in its own source
            assert ours[0] == theirs[0] and ours[1] in theirs[1]
            continue
        assert ours == theirs


@pytest.mark.torch
@pytest.mark.parametrize("given", [1.5, 0, -1, True, ["cpu"], "foo"], ids=repr)
def test_no_device_at_all_as_torch(given):
    from tests.torch_reference import torch

    assert outcome(require, given, "zeros") == outcome(torch.zeros, 1, device=given)


# --- the default ------------------------------------------------------------------------------------------------------


def test_default_of_a_block():
    assert require() == "cpu" and get_default_device() == device("cpu")
    with device("meta") as place:
        assert place == device("meta") and require() == "meta" and get_default_device() == device("meta")
        with device("cpu:0"):
            assert require() == "cpu" and get_default_device() == device("cpu:0")
        with place, place:
            assert require() == "meta"
        assert require() == "meta"
    assert require() == "cpu"


def test_block_ends_with_an_error():
    with pytest.raises(ZeroDivisionError), device("meta"):
        _ = 1 / 0
    assert require() == "cpu"


def test_default_of_the_thread():
    set_default_device("meta")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(require()))
    thread.start()
    thread.join()
    assert seen == ["cpu"] and require() == "meta"
    with device("cpu"):
        assert require() == "cpu"
    assert require() == "meta"
    set_default_device(None)
    assert require() == "cpu"


def test_set_inside_a_block_holds_at_once_and_after():
    with device("meta"):
        set_default_device("cpu")
        assert require() == "cpu"
        with device("meta"):
            assert require() == "meta"
    assert require() == "cpu"


def test_refused_default_changes_nothing():
    set_default_device("meta")
    for refused in ("foo", 1.5, 0):
        with pytest.raises((RuntimeError, TypeError)):
            set_default_device(refused)
        assert require() == "meta"


@pytest.mark.torch
def test_default_as_torch():
    from tests.torch_reference import torch

    try:
        for name in ("meta", "cpu:0", "cuda:1", "cuda", "mps", None):
            assert outcome(set_default_device, name) == outcome(torch.set_default_device, name)
            assert outcome(get_default_device) == outcome(torch.get_default_device)
        for name in ("foo", 1.5, 0):
            assert outcome(set_default_device, name) == outcome(torch.set_default_device, name)
    finally:
        torch.set_default_device(None)
