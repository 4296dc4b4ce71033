"""captum: integrated gradients and other attributions of a small network."""

import numpy as np
import torch
from captum.attr import (
    DeepLift,
    FeatureAblation,
    GradientShap,
    IntegratedGradients,
    LayerConductance,
    LayerGradCam,
    NoiseTunnel,
    Occlusion,
    Saliency,
    ShapleyValueSampling,
)
from shown import show
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3)).eval()
x = torch.randn(2, 1, 8, 8)
attributions, delta = IntegratedGradients(model).attribute(x, target=1, return_convergence_delta=True)
show("integrated", attributions)
show("delta", delta)
show("saliency", Saliency(model).attribute(x, target=0))
show("deeplift", DeepLift(model).attribute(x, target=0))
show("conductance", LayerConductance(model, model[0]).attribute(x, target=2, n_steps=10))
show("gradcam", LayerGradCam(model, model[0]).attribute(x, target=2))
show("occlusion", Occlusion(model).attribute(x, target=1, sliding_window_shapes=(1, 4, 4), strides=(1, 2, 2)))
show("ablation", FeatureAblation(model).attribute(x, target=1, feature_mask=(torch.arange(64) // 16).view(1, 1, 8, 8)))
torch.manual_seed(1)
np.random.seed(1)
show("noise", NoiseTunnel(Saliency(model)).attribute(x, target=1, nt_samples=3, stdevs=0.1))
show("shap", GradientShap(model).attribute(x, baselines=torch.zeros(2, 1, 8, 8), target=1, n_samples=3))
show(
    "shapley",
    ShapleyValueSampling(model).attribute(
        x, target=1, n_samples=2, feature_mask=(torch.arange(64) // 16).view(1, 1, 8, 8)
    ),
)
