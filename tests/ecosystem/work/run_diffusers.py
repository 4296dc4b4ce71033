"""diffusers: a small UNet learns to take noise away, a pipeline samples, an autoencoder encodes."""

import tempfile

import torch
from diffusers import AutoencoderKL, DDIMScheduler, DDPMPipeline, DDPMScheduler, UNet2DModel
from diffusers.models import UNet2DConditionModel
from shown import show, train

BLOCKS = dict(block_out_channels=(8, 16), norm_num_groups=4, layers_per_block=1)
torch.manual_seed(0)
unet = UNet2DModel(
    sample_size=8, in_channels=1, out_channels=1, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"), **BLOCKS,
)  # fmt: skip
scheduler = DDPMScheduler(num_train_timesteps=50)
images, noise, times = torch.randn(2, 1, 8, 8), torch.randn(2, 1, 8, 8), torch.tensor([3, 30])
noisy = scheduler.add_noise(images, noise, times)
show("training", train(unet, lambda m: torch.nn.functional.mse_loss(m(noisy, times).sample, noise)))
pipeline = DDPMPipeline(unet, DDIMScheduler(num_train_timesteps=50))
pipeline.set_progress_bar_config(disable=True)
drawn = pipeline(batch_size=1, num_inference_steps=4, generator=torch.manual_seed(0), output_type="np").images
show("sampled", torch.from_numpy(drawn))
folder = tempfile.mkdtemp()
unet.save_pretrained(folder)
with torch.no_grad():
    show("read", UNet2DModel.from_pretrained(folder).eval()(noisy, times).sample)
torch.manual_seed(0)
conditional = UNet2DConditionModel(
    sample_size=8, in_channels=1, out_channels=1, cross_attention_dim=8, attention_head_dim=4,
    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    **BLOCKS,
)  # fmt: skip
text = torch.randn(2, 5, 8)
show("conditional", train(conditional, lambda m: torch.nn.functional.mse_loss(m(noisy, times, text).sample, noise)))
coder = AutoencoderKL(
    in_channels=1, out_channels=1, latent_channels=2, down_block_types=("DownEncoderBlock2D",) * 2,
    up_block_types=("UpDecoderBlock2D",) * 2, **BLOCKS,
)  # fmt: skip
show("autoencoder", train(coder, lambda m: (m(images).sample - images).square().mean()))
