"""What each script of ``work/`` needs, in the versions with which PyTorch's numbers were recorded.

``python -m tests.ecosystem.packages install --part 1 --parts 3`` installs the packages of every third script into this
environment, without what they say they depend on: so PyTorch stays out.
"""

import argparse
import subprocess
import sys
from pathlib import Path

WORK = Path(__file__).parent / "work"

#: Plain libraries that several packages import.
COMMON = "packaging typing_extensions tqdm numpy pyyaml filelock fsspec requests psutil jinja2 pillow".split()
_SCIENCE = "scipy scikit-learn joblib threadpoolctl narwhals pandas python-dateutil six pytz tzdata".split()
_HUB = """huggingface_hub==2.4.0 safetensors==0.8.0 tokenizers==0.23.3 regex httpx httpx2 httpcore anyio h11 idna
    certifi click typer shellingham hf-xet sniffio rich pygments markdown-it-py mdurl urllib3
    charset-normalizer""".split()
_LIGHTNING = "lightning==2.6.6 pytorch-lightning==2.6.6 lightning-utilities==0.15.3 torchmetrics==1.9.0 aiohttp".split()
_VISION = ["torchvision==0.28.0"]

NEEDS = {
    "einops": ["einops==0.8.2"],
    "torchinfo": ["torchinfo==1.8.0"],
    "torchdiffeq": ["torchdiffeq==0.2.5", "scipy"],
    "safetensors": ["safetensors==0.8.0"],
    "torchmetrics": ["torchmetrics==1.9.0", "lightning-utilities==0.15.3", *_VISION, "scipy"],
    "skorch": ["skorch==1.4.0", *_SCIENCE],
    "lightning": [*_LIGHTNING, *_SCIENCE, "aiohappyeyeballs", "aiosignal", "attrs", "frozenlist", "multidict", "yarl",
                  "propcache", "idna"],
    "accelerate": ["accelerate==1.15.0", *_HUB],
    "transformers_decoders": ["transformers==5.23.0", *_HUB],
    "transformers_encoders": ["transformers==5.23.0", *_HUB],
    "transformers_trainer": ["transformers==5.23.0", "accelerate==1.15.0", *_HUB],
    "timm": ["timm==1.0.31", *_VISION, *_HUB],
    "stable_baselines3": ["stable-baselines3==2.9.2", "gymnasium==1.4.0", "farama-notifications", "cloudpickle",
                          "matplotlib", "contourpy", "cycler", "fonttools", "kiwisolver", "pyparsing", *_SCIENCE],
    "torch_geometric": ["torch-geometric==2.8.1", "tabulate", "xxhash", "aiohttp", "pyparsing", *_SCIENCE],
    "pyro": ["pyro-ppl==1.9.2", "pyro-api==0.1.2", "opt_einsum"],
    "gpytorch": ["gpytorch==1.15.2", "linear_operator==0.6.1", "jaxtyping==0.3.11", "wadler_lindig", "mpmath",
                 *_SCIENCE],
    "captum": ["captum==0.9.0", "matplotlib", "contourpy", "cycler", "fonttools", "kiwisolver", "pyparsing",
               "python-dateutil", "six"],
    "diffusers": ["diffusers==0.42.1", "importlib_metadata", "zipp", *_HUB],
    "peft": ["peft==0.21.2", "transformers==5.23.0", "accelerate==1.15.0", *_HUB],
    "torchvision": _VISION,
}  # fmt: skip


def part(index, parts):
    """The names of every ``parts``-th script, from the ``index``-th on."""
    return sorted(NEEDS)[index % parts :: parts]


def requirements(names):
    """What these scripts need, each once."""
    return list(dict.fromkeys([*COMMON, *(need for name in names for need in NEEDS[name])]))


def main(argv=None):
    """Install a part, or say what it needs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("install", "list"))
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--parts", type=int, default=1)
    options = parser.parse_args(argv)
    needs = requirements(part(options.part, options.parts))
    if options.do == "list":
        print("\n".join(needs))
        return 0
    return subprocess.call([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *needs])


if __name__ == "__main__":
    sys.exit(main())
