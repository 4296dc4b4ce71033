"""vit-pytorch: six transformers of images, trained for two steps."""

import torch
from shown import show, train
from vit_pytorch import ViT
from vit_pytorch.cait import CaiT
from vit_pytorch.cct import CCT
from vit_pytorch.deepvit import DeepViT
from vit_pytorch.max_vit import MaxViT
from vit_pytorch.simple_vit import SimpleViT

common = dict(image_size=32, patch_size=8, num_classes=5, dim=32, heads=2, mlp_dim=32)
MODELS = {
    "vit": lambda: ViT(depth=2, **common),
    "simple": lambda: SimpleViT(depth=2, **common),
    "deep": lambda: DeepViT(depth=2, **common),
    "cait": lambda: CaiT(depth=1, cls_depth=1, **common),
    "cct": lambda: CCT(img_size=32, embedding_dim=32, n_conv_layers=1, kernel_size=7, stride=2, padding=3,
                       pooling_kernel_size=3, pooling_stride=2, pooling_padding=1, num_layers=1, num_heads=2,
                       num_classes=5, positional_embedding="learnable"),
    "max": lambda: MaxViT(num_classes=5, dim=16, depth=(1, 1), dim_head=8, window_size=4, dim_conv_stem=8),
}  # fmt: skip
torch.manual_seed(0)
images, labels = torch.randn(2, 3, 32, 32), torch.tensor([1, 3])
for name, make in MODELS.items():
    torch.manual_seed(0)
    model = make().eval()
    show(name, train(model, lambda m: torch.nn.functional.cross_entropy(m(images), labels), steps=2))
