"""monai: a network for volumes trained with its losses, its transforms and metrics, and a sliding window."""

import torch
from monai.inferers import sliding_window_inference
from monai.losses import DiceCELoss, DiceLoss, FocalLoss
from monai.metrics import DiceMetric, HausdorffDistanceMetric
from monai.networks.nets import DenseNet, UNet
from monai.transforms import Compose, NormalizeIntensity, RandFlip, RandGaussianNoise, Resize, ScaleIntensity
from monai.utils import set_determinism
from shown import show, train

set_determinism(0)
volume, label = torch.rand(1, 1, 16, 16, 16), (torch.rand(1, 1, 16, 16, 16) > 0.7).float()
net = UNet(spatial_dims=3, in_channels=1, out_channels=2, channels=(4, 8, 16), strides=(2, 2), num_res_units=1)
loss = DiceCELoss(to_onehot_y=True, softmax=True)
show("unet", train(net, lambda m: loss(m(volume), label), steps=2))
show("dice", DiceLoss(sigmoid=True)(volume - 0.5, label))
show("focal", FocalLoss()(volume - 0.5, label))
steps = Compose([ScaleIntensity(), RandFlip(1.0, 0), RandGaussianNoise(1.0), NormalizeIntensity(), Resize((8, 8, 8))])
steps.set_random_state(0)
show("transformed", torch.as_tensor(steps(volume[0])))
metric = DiceMetric(include_background=True)
metric((volume > 0.5).float(), label)
show("score", metric.aggregate())
show("window", sliding_window_inference(volume, (8, 8, 8), 2, net.eval()).mean((2, 3, 4)))
show("classes", train(DenseNet(2, 1, 3, init_features=8, growth_rate=4, block_config=(2, 2)).double(),
                      lambda m: m(volume[:, :, 0].double()).square().mean(), steps=1))  # fmt: skip
distance = HausdorffDistanceMetric()
show("distance", distance((volume[:, :, 0] > 0.6).float(), label[:, :, 0]))
