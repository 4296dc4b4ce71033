"""torchvision: transforms on tensors, models, a data set made of files; the operations of its compiled library."""

import tempfile
from pathlib import Path

import torch
from PIL import Image
from shown import show, train
from torchvision import models, tv_tensors
from torchvision.datasets import FakeData, ImageFolder
from torchvision.ops import (
    box_iou,
    deform_conv2d,
    nms,
    ps_roi_align,
    ps_roi_pool,
    roi_align,
    roi_pool,
    sigmoid_focal_loss,
)
from torchvision.transforms import v2
from torchvision.transforms.functional import adjust_hue, rotate
from torchvision.utils import make_grid

torch.manual_seed(0)
image = torch.randint(0, 256, (3, 32, 32), dtype=torch.uint8)
steps = v2.Compose([
    v2.RandomHorizontalFlip(), v2.ColorJitter(0.2, 0.2, 0.2, 0.1), v2.RandomRotation(20), v2.GaussianBlur(3),
    v2.ToDtype(torch.float32, scale=True), v2.RandomResizedCrop(24, antialias=True),
    v2.Normalize([0.5] * 3, [0.25] * 3), v2.RandomErasing(p=1.0),
])  # fmt: skip
show("transformed", steps(image))
boxes = tv_tensors.BoundingBoxes([[2, 3, 10, 12], [5, 5, 20, 30]], format="XYXY", canvas_size=(32, 32))
flipped, moved = v2.RandomHorizontalFlip(1.0)(tv_tensors.Image(image), boxes)
show("boxes", [type(moved).__name__, type(flipped).__name__, moved.tolist()])
show("iou", box_iou(boxes.float(), moved.float()))
show("hue", adjust_hue(image, 0.2))
show("rotated", rotate(image.float(), 30))
show("auto", v2.AutoAugment()(image).sum())
show("mixed", v2.MixUp(num_classes=3)(torch.rand(2, 3, 4, 4), torch.tensor([0, 2]))[1])
show("grid", list(make_grid(torch.rand(4, 3, 5, 5)).shape))
show("focal", sigmoid_focal_loss(torch.randn(4, 3), torch.ones(4, 3), reduction="mean"))
pixels = torch.rand(2, 8, 16, 16, requires_grad=True)
regions = torch.tensor([[0.0, 1, 2, 10.5, 12], [1, -3, 4, 20, 15], [0, 5, 5, 5.2, 5.1], [1, 8, 8, 3, 3]])
for pool, settings in (
    (roi_align, (2, 0.7, 2, True)), (roi_align, ((3, 2), 0.7)), (roi_pool, (3, 0.7)), (ps_roi_pool, (2, 0.7)),
    (ps_roi_align, (2, 0.7, 2)), (ps_roi_align, (2, 0.7, -1)),
):  # fmt: skip
    pixels.grad = None
    pooled = pool(pixels, regions[:3], *settings)
    (pooled * torch.arange(pooled.numel()).reshape(pooled.shape)).sum().backward()
    show(f"{pool.__name__} {settings}", [pooled.flatten().tolist()[::7], pixels.grad.flatten().tolist()[::97]])
offset, mask = 4 * torch.rand(2, 36, 16, 7) - 2, torch.rand(2, 18, 16, 7)
kernel = torch.rand(6, 4, 3, 3)
for modulated in (None, mask):
    operands = [t.detach().requires_grad_() for t in (pixels, offset, kernel)]
    result = deform_conv2d(*operands, torch.ones(6), (1, 2), 1, (1, 2), modulated)
    result.square().sum().backward()
    show(f"deformed {modulated is None}", [result.flatten().tolist()[::50], *(t.grad.norm().item() for t in operands)])
show("kept", nms(torch.rand(20, 4).cumsum(1), torch.rand(20), 0.3))
for name in ("resnet18", "mobilenet_v3_small", "squeezenet1_1", "vit_b_16", "swin_t", "shufflenet_v2_x0_5"):
    torch.manual_seed(0)
    settings = dict(image_size=32, patch_size=16) if name.startswith("vit") else {}
    kind = models.VisionTransformer if settings else None
    if kind:
        model = kind(num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=32, num_classes=5, **settings)
    else:
        model = models.get_model(name, num_classes=5)
    model = model.double()  # batch normalization over so few numbers multiplies rounding errors
    images = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    labels = torch.tensor([1, 3])
    show(name, train(model, lambda m: torch.nn.functional.cross_entropy(m(images), labels), steps=2))
folder = Path(tempfile.mkdtemp())
for label in ("cat", "dog"):
    (folder / label).mkdir()
    for n in range(2):
        Image.fromarray((torch.rand(8, 8, 3) * 255).byte().numpy()).save(folder / label / f"{n}.png")
data = ImageFolder(folder, transform=v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]))
show("files", [len(data), data.classes, data[3][1]])
show("picture", data[3][0])
show("fake", list(FakeData(4, (3, 8, 8), transform=v2.PILToTensor())[0][0].shape))
