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
    "kornia": ["kornia==0.9.0"],
    "ignite": ["pytorch-ignite==0.5.5"],
    "torchsde": ["torchsde==0.2.6"],
    "metric_learning": ["pytorch-metric-learning==2.9.0"],
    "segmentation_models": ["segmentation-models-pytorch==0.6.0", "timm==1.0.31", "torchvision==0.28.0"],
    "x_transformers": ["x-transformers==2.31.10"],
    "monai": ["monai==1.6.1"],
    "snntorch": ["snntorch==1.0.0"],
    "fastai": ["fastai==2.8.12"],
    "flows": ["zuko==1.6.0", "nflows==0.14", "normflows==1.7.3"],
    "botorch": ["botorch==0.18.1"],
    "open_clip": ["open_clip_torch==3.3.0"],
    "optimizers": [
        "lion-pytorch==0.2.5",
        "schedulefree==1.4.1",
        "torch-optimizer==0.3.0",
        "pytorch_ranger==0.1.1",
        "pytorch-warmup==0.2.0",
        "torch-ema==0.3",
    ],
    "e3nn": ["e3nn==0.6.0"],
    "keras": ["keras==3.15.1"],
    "sentence_transformers": ["sentence-transformers==6.2.0", "transformers==5.23.0"],
    "vit_pytorch": ["vit-pytorch==1.26.11"],
    "curvature": [
        "opacus==1.6.0",
        "backpack-for-pytorch==1.7.1",
        "laplace-torch==0.3",
        "entmax==1.3",
        "pytorch-crf==0.7.2",
        "vector-quantize-pytorch==1.32.0",
        "ema-pytorch==0.8.3",
        "pytorch-msssim==1.0.0",
    ],
    "attention": [
        "performer-pytorch==1.1.4",
        "linformer==0.2.3",
        "perceiver-pytorch==0.11.0",
        "reformer-pytorch==1.4.4",
        "axial-attention==0.6.1",
        "local-attention==1.11.2",
        "nystrom-attention==0.0.14",
        "siren-pytorch==0.1.7",
    ],
    "sound": [
        "auraloss==0.4.0",
        "julius==0.2.8",
        "asteroid-filterbanks==0.4.0",
        "torch-dct==0.1.6",
        "torchbnn==1.2",
        "blitz-bayesian-pytorch==0.2.8",
    ],
    "tensordict": ["tensordict==0.15.3"],
    "einx": ["einx==0.4.3", "jaxtyping==0.3.11", "beartype==0.23.1"],
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
    alias = [sys.executable, "-m", "glassgrad", "install-alias"]
    subprocess.check_call(alias)
    subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", *needs])
    return subprocess.call(alias)  # refused, were another torch there now


if __name__ == "__main__":
    sys.exit(main())
