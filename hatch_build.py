"""Builds what the package computes of its families, before its files are gathered into a wheel or linked to."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Publish(BuildHookInterface):
    """Runs ``python -m glassgrad.ops.publish`` in the tree that is being built."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the catalogue's table and the stubs; CalledProcessError, with what went wrong, where that fails."""
        if self.target_name == "wheel" and sys.version_info >= (3, 11):  # before there is no engine, nor are its tables
            # Not by PYTHONPATH: an isolated build takes off it what an earlier installation in place has added.
            script = "import sys; sys.path.insert(0, sys.argv[1]); from glassgrad.ops import publish; publish.write([])"
            command = [sys.executable, "-c", script, str(Path(self.root) / "src")]
            environment = {**os.environ, "GLASSGRAD_BUILDING": "1", "GLASSGRAD_NUMBA": "0"}
            subprocess.run(command, check=True, env=environment)
