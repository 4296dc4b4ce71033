"""Seven packages of attention in less than quadratic time, and a network of sines: trained for two steps."""

import random

import torch
from axial_attention import AxialImageTransformer
from linformer import LinformerLM
from local_attention import LocalTransformer
from nystrom_attention import Nystromformer
from perceiver_pytorch import Perceiver
from performer_pytorch import PerformerLM
from reformer_pytorch import ReformerLM
from shown import show, train
from siren_pytorch import SirenNet

random.seed(0)
torch.manual_seed(0)
words = torch.randint(0, 50, (2, 32))
images = torch.randn(2, 8, 8, 3)
planes = torch.randn(1, 12, 6, 6, requires_grad=True)
places, values = torch.randn(2, 16, 16), torch.randn(20, 2)
common = dict(num_tokens=50, dim=32, depth=2, heads=4)


def next_word(model):
    return torch.nn.functional.cross_entropy(model(words).transpose(1, 2), words)


MODELS = {
    "performer": (lambda: PerformerLM(max_seq_len=32, ff_glu=True, nb_features=16, **common), next_word),
    "linformer": (lambda: LinformerLM(seq_len=32, k=8, **common), next_word),
    "reformer": (
        lambda: ReformerLM(max_seq_len=32, bucket_size=8, n_hashes=2, ff_chunks=2, causal=True, **common), next_word,
    ),
    "local": (
        lambda: LocalTransformer(causal=True, local_attn_window_size=8, max_seq_len=32, **common),
        lambda model: model(words, return_loss=True),
    ),
    "perceiver": (
        lambda: Perceiver(
            input_channels=3, input_axis=2, num_freq_bands=3, max_freq=10.0, depth=2, num_latents=8, latent_dim=16,
            latent_heads=2, cross_dim_head=8, latent_dim_head=8, num_classes=5, weight_tie_layers=True,
        ),
        lambda model: model(images).pow(2).mean(),
    ),
    "axial": (
        lambda: AxialImageTransformer(dim=12, depth=2, heads=2, reversible=True),
        lambda model: model(planes).pow(2).mean(),
    ),
    "nystrom": (
        lambda: Nystromformer(dim=16, dim_head=8, heads=2, depth=2, num_landmarks=4, pinv_iterations=3),
        lambda model: model(places).pow(2).mean(),
    ),
    "siren": (
        lambda: SirenNet(dim_in=2, dim_hidden=16, dim_out=3, num_layers=2, w0_initial=30.0),
        lambda model: model(values).pow(2).mean(),
    ),
}  # fmt: skip
for name, (make, loss_of) in MODELS.items():
    torch.manual_seed(0)
    show(name, train(make(), loss_of, steps=2))
