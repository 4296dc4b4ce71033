"""Damaged and half-written files: an error that says so, never a wrong tensor, and the old file stays."""

import io
import os
import pickle
import stat

import pytest

import glassgrad

REFUSALS = (RuntimeError, EOFError, pickle.UnpicklingError, ValueError)


def state():
    x = glassgrad.arange(300.0)
    return {"x": x, "view": x[10:20], "long": glassgrad.arange(40), "name": "n" * 200}


def saved(**how):
    file = io.BytesIO()
    glassgrad.save(state(), file, **how)
    return file.getvalue()


def whole(found):
    return found["x"].equal(state()["x"]) and found["view"].equal(state()["view"]) and found["name"] == "n" * 200


@pytest.mark.parametrize("new", [True, False])
def test_cut_off_anywhere(new):
    content = saved(_use_new_zipfile_serialization=new)
    assert whole(glassgrad.load(io.BytesIO(content)))
    for length in range(0, len(content), 97):
        for mode in (True, False):
            with pytest.raises(REFUSALS):
                glassgrad.load(io.BytesIO(content[:length]), weights_only=mode)
    with pytest.raises(RuntimeError, match="failed finding central directory"):
        glassgrad.load(io.BytesIO(saved()[:-30]))


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_one_byte_changed_anywhere(flip):
    content = saved()
    for at in range(flip % 7, len(content), 7):
        damaged = bytearray(content)
        damaged[at] ^= flip
        try:
            found = glassgrad.load(io.BytesIO(bytes(damaged)))
        except REFUSALS:
            continue
        assert whole(found), at  # padding, and words about the file that nobody needs


def test_damage_is_named():
    content = saved()
    at = content.index(glassgrad.arange(300.0).numpy().tobytes()) + 100
    with pytest.raises(RuntimeError, match="failed reading file data/0: crc-32 check failed"):
        glassgrad.load(io.BytesIO(content[:at] + b"\x55" + content[at + 1 :]))


class Breaks:
    """Something that cannot be pickled."""

    def __reduce__(self):
        raise ValueError("not this one")


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.pt"
    glassgrad.save([1], path)
    before = path.read_bytes()
    for how in ({}, {"_use_new_zipfile_serialization": False}):
        with pytest.raises(ValueError, match="not this one"):
            glassgrad.save([glassgrad.ones(5), Breaks()], path, **how)
        assert path.read_bytes() == before and os.listdir(tmp_path) == ["x.pt"]

    from glassgrad.ground import output
    from glassgrad.serialization import archive

    def full(self, content, put=archive.Writer._put):
        if self.at > 500:
            raise OSError(28, "No space left on device")
        put(self, content)

    with monkeypatch.context() as patch:
        patch.setattr(archive.Writer, "_put", full)
        with pytest.raises(OSError, match="No space left"):
            glassgrad.save(state(), path)
    with monkeypatch.context() as patch:
        patch.setattr(output.os, "replace", lambda *names: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            glassgrad.save(state(), path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["x.pt"]
    glassgrad.save(state(), path)
    assert whole(glassgrad.load(path)) and os.listdir(tmp_path) == ["x.pt"]


def test_a_process_that_dies_while_saving(tmp_path):
    import subprocess
    import sys

    path = tmp_path / "x.pt"
    glassgrad.save([1], path)
    program = (
        "import os, glassgrad\nfrom glassgrad.serialization import archive\n"
        "def die(self): os._exit(9)\narchive.Writer.finish = die\n"
        f"glassgrad.save(glassgrad.ones(1000), {str(path)!r})"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 9
    assert glassgrad.load(path) == [1]


@pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")
def test_links_and_permissions_stay(tmp_path):
    real, link = tmp_path / "real.pt", tmp_path / "link.pt"
    glassgrad.save([1], real)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(real.stat().st_mode) == 0o666 & ~umask
    real.chmod(0o640)
    link.symlink_to("real.pt")
    glassgrad.save([2], link)
    assert link.is_symlink() and glassgrad.load(real) == [2] and stat.S_IMODE(real.stat().st_mode) == 0o640
    dangling = tmp_path / "dangling.pt"
    dangling.symlink_to("new.pt")
    glassgrad.save([3], dangling)
    assert dangling.is_symlink() and glassgrad.load(tmp_path / "new.pt") == [3]
    glassgrad.save(glassgrad.ones(3), "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_places_that_will_not_do(tmp_path):
    with pytest.raises(RuntimeError, match="Parent directory .*nowhere does not exist."):
        glassgrad.save(1, tmp_path / "nowhere" / "x.pt")
    with pytest.raises(RuntimeError, match="Is a directory"):
        glassgrad.save(1, tmp_path)
    with pytest.raises(RuntimeError, match="invalid file name"):
        glassgrad.save(1, "")
    for wrong in (5, b"x.pt"):
        with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object"):
            glassgrad.save(1, wrong)
    with pytest.raises(FileNotFoundError):
        glassgrad.load(tmp_path / "x.pt")


def test_a_failing_load_changes_nothing():
    from glassgrad.serialization import options

    target = glassgrad.nn.Linear(2, 2)
    before = target.weight.detach().clone()
    with pytest.raises(REFUSALS):
        target.load_state_dict(glassgrad.load(io.BytesIO(saved()[:200]), map_location="cpu"))
    assert target.weight.equal(before) and options.here.map_location is None
