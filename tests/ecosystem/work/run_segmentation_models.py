"""segmentation-models-pytorch: encoders with decoders, its losses and scores."""

import segmentation_models_pytorch as smp
import torch
from shown import show, train

torch.manual_seed(0)
images = torch.randn(2, 3, 64, 64, dtype=torch.float64)
masks = (torch.rand(2, 1, 64, 64) > 0.5).long()
dice = smp.losses.DiceLoss("binary")
for name, settings in {
    "Unet": dict(decoder_channels=(32, 16, 16, 8, 8)), "FPN": {}, "Linknet": {}, "DeepLabV3Plus": {}, "PSPNet": {},
    "MAnet": dict(decoder_channels=(32, 16, 16, 8, 8)),
}.items():  # fmt: skip
    torch.manual_seed(0)
    model = getattr(smp, name)("resnet18", encoder_weights=None, classes=1, **settings).double()
    torch.manual_seed(1)
    show(name, train(model, lambda m: dice(m(images), masks), steps=1))
logits = torch.randn(2, 3, 8, 8, requires_grad=True)
target = torch.randint(0, 3, (2, 8, 8))
for loss in (
    smp.losses.JaccardLoss("multiclass"), smp.losses.FocalLoss("multiclass"), smp.losses.LovaszLoss("multiclass"),
    smp.losses.TverskyLoss("multiclass"), smp.losses.SoftCrossEntropyLoss(smooth_factor=0.1),
):  # fmt: skip
    logits.grad = None
    value = loss(logits, target)
    value.backward()
    show(type(loss).__name__, [value.item(), logits.grad.norm().item()])
counts = smp.metrics.get_stats(logits.argmax(1), target, mode="multiclass", num_classes=3)
show("iou", smp.metrics.iou_score(*counts, reduction="micro"))
show("f1", smp.metrics.f1_score(*counts, reduction="macro"))
