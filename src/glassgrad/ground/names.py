"""What PyTorch calls classes and functions that lie elsewhere here: names as checkpoints and messages have them.

A Linear is ``torch.nn.modules.linear.Linear``, whatever our files are called.
"""

from __future__ import annotations

import sys
from typing import Any

OURS = __name__.partition(".")[0]

#: In which file of ``torch.nn.modules`` PyTorch keeps which layers.
_LAYERS = {
    "activation": "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish "
    "MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink "
    "Softsign Tanh Tanhshrink Threshold",
    "adaptive": "AdaptiveLogSoftmaxWithLoss",
    "batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d SyncBatchNorm",
    "channelshuffle": "ChannelShuffle",
    "container": "Container ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d "
    "LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d",
    "distance": "CosineSimilarity PairwiseDistance",
    "dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d "
    "LazyInstanceNorm3d",
    "linear": "Bilinear Identity LazyLinear Linear",
    "loss": "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss HingeEmbeddingLoss "
    "HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss MarginRankingLoss MultiLabelMarginLoss "
    "MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss SoftMarginLoss "
    "TripletMarginLoss TripletMarginWithDistanceLoss",
    "module": "Module",
    "normalization": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    "padding": "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d "
    "ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d",
    "pixelshuffle": "PixelShuffle PixelUnshuffle",
    "pooling": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d "
    "AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d "
    "LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d",
    "rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
    "sparse": "Embedding EmbeddingBag",
    "transformer": "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer",
    "upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
}
_FILE_OF = {name: file for file, names in _LAYERS.items() for name in names.split()}

#: Single names that PyTorch keeps where no rule would look.
_ODD = {
    (f"{OURS}.ground.generator", "Generator"): ("torch._C", "Generator"),
    (f"{OURS}.serialization.rebuild", "_rebuild_from_type_v2"): ("torch._tensor", "_rebuild_from_type_v2"),
    (f"{OURS}.serialization.rebuild", "_get_layout"): ("torch.serialization", "_get_layout"),
    (f"{OURS}.serialization.rebuild", "_load_from_bytes"): ("torch.storage", "_load_from_bytes"),
    (f"{OURS}.ops.composite.storage", "UntypedStorage"): ("torch.storage", "UntypedStorage"),
    (f"{OURS}.ops.composite.typed_storage", "TypedStorage"): ("torch.storage", "TypedStorage"),
}
BACK = {theirs: ours for ours, theirs in _ODD.items()}

#: Modules whose names are in one module of PyTorch's; the longest that fits counts.
_HOMES = {
    f"{OURS}.tensor.parameter": "torch.nn.parameter",
    f"{OURS}.serialization.rebuild": "torch._utils",
    f"{OURS}.nn.functional": "torch.nn.functional",
    f"{OURS}.optim.lr_scheduler": "torch.optim.lr_scheduler",
    f"{OURS}.tensor": "torch",
    f"{OURS}.core": "torch",
    f"{OURS}.ground": "torch",
    f"{OURS}.ops.composite.typed_storage": "torch",
}


def torch_name(module: str, name: str) -> tuple[str, str]:
    """Module and name that PyTorch knows a global of ours by; any other global's own."""
    if module.partition(".")[0] != OURS:
        return module, name
    if (module, name) in _ODD:
        return _ODD[module, name]
    if module.startswith(f"{OURS}.nn.modules.") and name in _FILE_OF:
        return f"torch.nn.modules.{_FILE_OF[name]}", name
    for home in sorted(_HOMES, key=len, reverse=True):
        if module == home or module.startswith(home + "."):
            return _HOMES[home], name
    if module.startswith(f"{OURS}.ops."):
        functional = sys.modules.get(f"{OURS}.nn.functional")  # nobody has such a function without it
        return ("torch.nn.functional" if hasattr(functional, name) else "torch"), name
    return "torch" + module[len(OURS) :], name


def path_of(thing: Any) -> str:
    """The dotted name of a class or function as checkpoints have it."""
    return ".".join(torch_name(thing.__module__, thing.__qualname__))
