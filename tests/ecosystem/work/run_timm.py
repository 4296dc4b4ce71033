"""timm: a ResNet, a vision transformer, a ConvNeXt and an EfficientNet built, trained a few steps and evaluated."""

import timm
import timm.optim
import timm.scheduler
import torch
from shown import show, train
from timm.loss import LabelSmoothingCrossEntropy
from timm.utils import ModelEmaV3

# in double precision: batch normalization over so few numbers multiplies rounding errors
images = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
labels = torch.tensor([1, 3])
loss = LabelSmoothingCrossEntropy(0.1)
for name, settings in {
    "resnet18": {}, "vit_tiny_patch16_224": dict(img_size=64, depth=2), "convnext_atto": {}, "efficientnet_b0": {},
    "mobilenetv3_small_050": {},
}.items():  # fmt: skip
    torch.manual_seed(0)
    model = timm.create_model(name, num_classes=5, **settings).double()
    show(f"{name} training", train(model, lambda m: loss(m(images), labels), steps=2))
    model.eval()
    with torch.no_grad():
        show(f"{name} logits", model(images))
        show(f"{name} features", list(model.forward_features(images).shape))
model = timm.create_model("resnet18", features_only=True, out_indices=(1, 3)).double()
show("pyramid", [list(f.shape) for f in model(images)])
torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
for name in ("lamb", "adabelief", "lion", "nadamw", "adopt"):
    optimizer = timm.optim.create_optimizer_v2(model, name, lr=1e-2)
    average = ModelEmaV3(model, decay=0.9)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(1, 4)).square().sum().backward()
        optimizer.step()
        average.update(model)
    show(name, [model.weight.tolist(), average.module.weight.tolist()])
schedule, epochs = timm.scheduler.create_scheduler_v2(optimizer, sched="cosine", num_epochs=5, warmup_epochs=1)
rates = []
for epoch in range(epochs):
    schedule.step(epoch)
    rates.append(optimizer.param_groups[0]["lr"])
show("rates", rates)
