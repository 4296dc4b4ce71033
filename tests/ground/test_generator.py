"""The stream of random bits: its numbers, its seeds and its saved form."""

import copy
import pickle
import threading

import numpy as np
import pytest

from glassgrad.ground import generator as module
from glassgrad.ground.generator import Generator


def test_the_first_draws_of_seed_5489_are_those_of_the_published_twister():
    gen = Generator().manual_seed(5489)
    assert gen.random32(4).tolist() == [3499211612, 581869302, 3890346734, 3586334585]
    gen.manual_seed(5489)
    assert gen.random32(9999).dtype == np.uint32
    assert gen.random32(1).tolist() == [4123659995]  # the 10,000th, which the C++ standard names


def test_64_bits_are_two_draws_high_word_first():
    gen = Generator().manual_seed(3)
    for n in (1, 7, 5000):  # both ways of drawing
        gen.manual_seed(3)
        words = gen.random32(2 * n).astype(np.uint64)
        gen.manual_seed(3)
        assert np.array_equal(gen.random64(n), words[0::2] << np.uint64(32) | words[1::2])


@pytest.mark.parametrize("parts", [(1, 2, 3), (2047, 1), (2048, 2048, 1), (5000, 3, 4000), (0, 6, 0)])
def test_a_stream_does_not_depend_on_how_it_is_cut(parts):
    gen = Generator().manual_seed(11)
    pieces = np.concatenate([gen.random32(n) for n in parts])
    assert np.array_equal(pieces, Generator().manual_seed(11).random32(sum(parts)))


def test_seeds():
    gen = Generator()
    assert gen.initial_seed() == 67280421310721
    assert gen.manual_seed(-1) is gen and gen.initial_seed() == 2**64 - 1
    assert gen.manual_seed(-(2**63)).initial_seed() == 2**63
    assert gen.manual_seed(2**64 - 1).initial_seed() == 2**64 - 1
    fresh = gen.seed()
    assert gen.initial_seed() == fresh and 0 <= fresh < 2**64
    first = gen.random32(3)
    assert np.array_equal(Generator().manual_seed(fresh).random32(3), first)
    assert gen.seed() != fresh


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_a_seed_out_of_range_is_refused_and_changes_nothing(seed):
    gen = Generator().manual_seed(4)
    before = gen.get_state_bytes()
    with pytest.raises(ValueError, match="^Overflow when unpacking long long$"):
        gen.manual_seed(seed)
    assert np.array_equal(gen.get_state_bytes(), before)


@pytest.mark.parametrize(("seed", "kind"), [(1.5, "float"), ("5", "str"), (True, "bool"), (None, "NoneType")])
def test_a_generator_takes_whole_seeds_only(seed, kind):
    with pytest.raises(RuntimeError, match=f"^manual_seed expected a long, but got {kind}$"):
        Generator().manual_seed(seed)


def test_the_default_generator():
    kept = module.default_generator.get_state_bytes()
    try:
        assert module.manual_seed("7") is module.default_generator
        assert module.initial_seed() == 7
        assert module.manual_seed(1.9).initial_seed() == 1
        assert module.seed() == module.initial_seed()
    finally:
        module.default_generator.set_state_bytes(kept)


@pytest.mark.parametrize("drawn", [0, 1, 623, 624, 625, 1000])
def test_a_saved_state_continues(drawn):
    gen = Generator().manual_seed(9)
    gen.random32(drawn)
    gen.next_normal = 0.25
    state = gen.get_state_bytes()
    assert state.shape == (5056,) and state.dtype == np.uint8
    others = [Generator(), gen.clone_state(), pickle.loads(pickle.dumps(gen)), copy.deepcopy(gen)]
    others[0].set_state_bytes(state)
    ahead = gen.random32(700)
    for other in others:
        assert other.initial_seed() == 9 and other.next_normal == 0.25 and other.device == gen.device
        assert np.array_equal(other.get_state_bytes(), state)
        assert np.array_equal(other.random32(700), ahead)


def test_seeding_forgets_the_kept_normal():
    gen = Generator().manual_seed(1)
    gen.next_normal = 1.0
    assert gen.manual_seed(1).next_normal is None


@pytest.mark.parametrize(
    ("state", "error", "words"),
    [
        ([1], TypeError, "expected a torch.ByteTensor, but got list"),
        (np.zeros(5056), TypeError, "RNG state must be a torch.ByteTensor"),
        (
            np.zeros(5048, np.uint8),
            RuntimeError,
            "Expected a CPUGeneratorImplState of size 5056 but found the input RNG state size to be 5048",
        ),
        (np.zeros(5056, np.uint8), RuntimeError, "Invalid mt19937 state"),
        (np.full(5056, 255, np.uint8), RuntimeError, "Invalid mt19937 state"),
    ],
)
def test_what_is_no_state_is_refused_and_changes_nothing(state, error, words):
    gen = Generator().manual_seed(2)
    before = gen.get_state_bytes()
    with pytest.raises(error) as caught:
        gen.set_state_bytes(state)
    assert str(caught.value) == words
    assert np.array_equal(gen.get_state_bytes(), before)


def test_a_state_whose_two_counters_disagree_is_refused():
    state = Generator().manual_seed(2).get_state_bytes()
    state[8:12].view(np.int32)[0] = 5
    with pytest.raises(RuntimeError, match="^Invalid mt19937 state$"):
        Generator().set_state_bytes(state)


def test_devices():
    assert str(Generator("cpu:1").device) == "cpu" and str(Generator(None).device) == "cpu"
    with pytest.raises(RuntimeError, match="^META device type not an accelerator"):
        Generator("meta")
    with pytest.raises(RuntimeError, match="^Cannot get CUDA generator without ATen_cuda library"):
        Generator("cuda")
    with pytest.raises(RuntimeError, match="device type at start of device string: foo"):
        Generator("foo")
    for call in (Generator().get_offset, lambda: Generator().set_offset(1)):
        with pytest.raises(RuntimeError, match="^CPU Generator does not use offset$"):
            call()


def test_threads_share_a_stream_without_losing_or_repeating_draws():
    gen = Generator().manual_seed(8)
    drawn: list[int] = []

    def draw():
        for _ in range(200):
            drawn.extend(gen.random32(5).tolist())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(drawn) == sorted(Generator().manual_seed(8).random32(4000).tolist())


@pytest.mark.torch
@pytest.mark.parametrize("seed", [0, 5, -3, 2**63 + 7])
@pytest.mark.parametrize("drawn", [0, 1, 7, 623, 624, 625, 2000])
def test_states_are_exchanged_with_torch(seed, drawn):
    from tests.torch_reference import torch

    theirs = torch.Generator().manual_seed(seed)
    ours = Generator().manual_seed(seed)
    torch.randint(0, 10, (drawn,), generator=theirs)
    ours.random32(drawn)
    assert np.array_equal(ours.get_state_bytes(), theirs.get_state().numpy())

    torch.randn(3, generator=theirs)  # keeps a second normal
    ours.set_state_bytes(theirs.get_state().numpy())
    assert np.array_equal(ours.get_state_bytes(), theirs.get_state().numpy())
    assert ours.next_normal == torch.randn(1, generator=theirs.clone_state(), dtype=torch.float64).item()

    back = torch.Generator()
    back.set_state(torch.from_numpy(ours.get_state_bytes()))
    assert torch.equal(back.get_state(), theirs.get_state())
    assert back.initial_seed() == seed % 2**64
    assert torch.equal(torch.randn(40, generator=back), torch.randn(40, generator=theirs))


@pytest.mark.torch
@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1, 1.5, "5", True, None])
def test_refused_seeds_read_as_torch_s(seed):
    from tests.torch_reference import torch

    with pytest.raises(Exception) as theirs:
        torch.Generator().manual_seed(seed)
    with pytest.raises(type(theirs.value)) as ours:
        Generator().manual_seed(seed)
    assert str(ours.value) == str(theirs.value)


def test_a_mark_tells_of_every_draw():
    gen = Generator().manual_seed(3)
    marks = [gen.mark()]
    assert gen.mark() == marks[0]
    for change in (
        lambda: gen.random32(1), lambda: gen.random32(623), lambda: gen.random64(2000), lambda: gen.manual_seed(4),
        lambda: setattr(gen, "next_normal", 0.5),
    ):  # fmt: skip
        change()
        marks.append(gen.mark())
    assert len(set(marks)) == len(marks)
    gen.get_state_bytes()
    assert gen.mark() == marks[-1]
    gen.manual_seed(3)
    assert gen.mark() == marks[0]
