"""What each script of ``work/`` needs, in the versions with which PyTorch's numbers were recorded.

``python -m tests.ecosystem.packages install --part 1 --parts 3`` installs the packages of every third script into this
environment, and what they depend on. The torch that they ask for is glassgrad, put there first.
"""

import argparse
import subprocess
import sys
from pathlib import Path

WORK = Path(__file__).parent / "work"

_TRANSFORMERS = ["transformers==5.23.0", "accelerate==1.15.0"]

NEEDS = {
    "einops": ["einops==0.8.2"],
    "torchinfo": ["torchinfo==1.8.0"],
    "torchdiffeq": ["torchdiffeq==0.2.5"],
    "safetensors": ["safetensors==0.8.0"],
    "torchmetrics": ["torchmetrics==1.9.0", "torchvision==0.28.0", "scipy"],
    "skorch": ["skorch==1.4.0"],
    "lightning": ["lightning==2.6.6", "torchmetrics==1.9.0", "scikit-learn"],
    "accelerate": ["accelerate==1.15.0"],
    "transformers_decoders": ["transformers==5.23.0"],
    "transformers_encoders": ["transformers==5.23.0"],
    "transformers_trainer": _TRANSFORMERS,
    "timm": ["timm==1.0.31", "torchvision==0.28.0"],
    "stable_baselines3": ["stable-baselines3==2.9.2", "gymnasium==1.4.0"],
    "torch_geometric": ["torch-geometric==2.8.1", "scipy"],
    "pyro": ["pyro-ppl==1.9.2"],
    "gpytorch": ["gpytorch==1.15.2", "linear_operator==0.6.1"],
    "captum": ["captum==0.9.0"],
    "diffusers": ["diffusers==0.42.1"],
    "peft": ["peft==0.21.2", *_TRANSFORMERS],
    "torchvision": ["torchvision==0.28.0"],
    "kornia": ["kornia"],
    "ignite": ["pytorch-ignite"],
    "torchsde": ["torchsde"],
    "metric_learning": ["pytorch-metric-learning"],
    "segmentation_models": ["segmentation-models-pytorch", "timm==1.0.31", "torchvision==0.28.0"],
    "x_transformers": ["x-transformers"],
    "monai": ["monai"],
    "snntorch": ["snntorch"],
    "fastai": ["fastai"],
    "flows": ["zuko", "nflows", "normflows"],
    "botorch": ["botorch"],
    "open_clip": ["open_clip_torch"],
    "optimizers": ["lion-pytorch", "schedulefree", "torch-optimizer", "pytorch_ranger", "pytorch-warmup", "torch-ema"],
    "e3nn": ["e3nn"],
    "keras": ["keras"],
    "sentence_transformers": ["sentence-transformers", "transformers==5.23.0"],
    "vit_pytorch": ["vit-pytorch"],
    "einx": ["einx", "jaxtyping", "beartype"],
}


def part(index, parts):
    """The names of every ``parts``-th script, from the ``index``-th on."""
    return sorted(NEEDS)[index % parts :: parts]


def requirements(names):
    """What these scripts need, each once."""
    return list(dict.fromkeys(need for name in names for need in NEEDS[name]))


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
    subprocess.check_call([sys.executable, "-m", "glassgrad", "install-alias"])
    return subprocess.call([sys.executable, "-m", "pip", "install", "--quiet", *needs])


if __name__ == "__main__":
    sys.exit(main())
