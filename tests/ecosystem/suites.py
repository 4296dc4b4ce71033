"""Packages' own tests on glassgrad, and how many of those that pass on PyTorch pass.

``python -m tests.ecosystem.suites --torch PYTHON einops`` takes a package's source from the index, runs its tests under
this Python, which has the package, pytest, pytest-timeout and glassgrad, and under one that has PyTorch in its place.
Without ``--torch`` the failures are counted, no more.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree


class Suite(NamedTuple):
    """A package's source, the files of its tests that are run, what they need beside it, and their environment."""

    source: str
    tests: str
    needs: str = ""
    environment: dict[str, str] = {}


SUITES = {
    "einops": Suite("einops==0.8.2", "einops/tests", environment={"EINOPS_TEST_BACKENDS": "numpy,torch"}),
    "opt_einsum": Suite("opt_einsum==3.4.0", "opt_einsum/tests/test_backends.py opt_einsum/tests/test_contract.py"),
    "torch-optimizer": Suite("torch-optimizer==0.3.0", "tests", "pytorch_ranger"),
    "gpytorch": Suite(
        "gpytorch==1.15.2", "test/kernels test/means test/likelihoods test/constraints test/priors", "linear_operator"
    ),
    "linear_operator": Suite(
        "linear_operator==0.6.1",
        "test/utils test/functions test/operators/test_diag_linear_operator.py "
        "test/operators/test_toeplitz_linear_operator.py test/operators/test_low_rank_root_linear_operator.py",
    ),
    "accelerate": Suite(
        "accelerate==1.15.0",
        "tests/test_hooks.py tests/test_utils.py tests/test_optimizer.py tests/test_scheduler.py "
        "tests/test_kwargs_handlers.py tests/test_dataclasses.py tests/test_memory_utils.py tests/test_offload.py "
        "tests/test_data_loader.py",
        "parameterized",
    ),
    "timm": Suite(
        "timm==1.0.31",
        "tests/test_layers_drop.py tests/test_layers_pool.py tests/test_scheduler.py tests/test_prune.py "
        "tests/test_input_conv.py tests/test_utils.py tests/test_multilabel.py tests/test_layers_pos_embed.py",
    ),
    "skorch": Suite(
        "skorch==1.4.0",
        "-o addopts= skorch/tests/test_dataset.py skorch/tests/test_helper.py skorch/tests/test_setter.py "
        "skorch/tests/test_scoring.py",
        "flaky pandas",
    ),
    "tensorly": Suite(
        "tensorly==0.10.0",
        "tensorly/tests/test_backend.py tensorly/tenalg tensorly/tests/test_cp_tensor.py "
        "tensorly/tests/test_tucker_tensor.py tensorly/tests/test_tt_tensor.py",
        environment={"TENSORLY_BACKEND": "pytorch"},
    ),
    "autoray": Suite("autoray==0.11.0", "tests -k torch"),
    "e3nn": Suite(
        "e3nn==0.6.0",
        "tests/o3/irreps_test.py tests/o3/rotation_test.py tests/nn/activation_test.py tests/nn/dropout_test.py "
        "tests/nn/batchnorm_test.py",
        "opt_einsum_fx sympy",
    ),
    "zuko": Suite("zuko==1.6.0", "tests"),
    "pytorch-warmup": Suite("pytorch-warmup==0.2.0", "test"),
    "normflows": Suite("normflows==1.7.3", "normflows"),
}


def unpacked(suite, home):
    """The folder of a package's source."""
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.check_call([*download, "-d", home, suite.source])
    archive = next(Path(home).glob("*.tar.gz"))
    with tarfile.open(archive) as file:
        file.extractall(home, filter="data")
    return Path(home, archive.name.removesuffix(".tar.gz"))


def outcomes(command, suite, folder):
    """What came of each test: "pass", "skipped", "failure" or "error"."""
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    subprocess.call(
        [*command, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "120", "--junitxml", str(report),
         *suite.tests.split()],
        cwd=folder, env={**os.environ, **suite.environment}, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    if not report.exists():
        raise RuntimeError(f"no test of {suite.source} ran")
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        tags = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        found[f"{case.get('classname')}.{case.get('name')}"] = tags[0] if tags else "pass"
    return found


def main(argv=None):
    """Print a row of the table for each package, and the tests that PyTorch alone passes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--install", action="store_true", help="install what the tests need into this Python first")
    parser.add_argument("--torch", help="a Python that has PyTorch and the packages")
    options = parser.parse_args(argv)
    for name in options.names or SUITES:
        if options.install:
            needs = [SUITES[name].source, "pytest", "pytest-timeout", *SUITES[name].needs.split()]
            subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", *needs])
        with tempfile.TemporaryDirectory() as home:
            folder = unpacked(SUITES[name], home)
            ours = outcomes([sys.executable, "-m", "glassgrad", "run"], SUITES[name], folder)
            theirs = outcomes([options.torch], SUITES[name], folder) if options.torch else None
        passed = {test for test, outcome in ours.items() if outcome == "pass"}
        wanted = ours.keys() if theirs is None else {test for test, outcome in theirs.items() if outcome == "pass"}
        print(f"| {SUITES[name].source} | {len(passed & wanted)} of {len(wanted)} |", flush=True)
        print(*sorted(wanted - passed), sep="\n", end="\n" if wanted - passed else "")


if __name__ == "__main__":
    sys.exit(main())
