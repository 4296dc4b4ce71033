"""open_clip: models of images and words from a configuration, their contrastive loss, words cut into tokens."""

import open_clip
import torch
from open_clip.loss import ClipLoss, SigLipLoss
from open_clip.model import CLIP
from shown import show, train

torch.manual_seed(0)
model = CLIP(
    embed_dim=16, vision_cfg=dict(image_size=32, layers=2, width=32, patch_size=8, head_width=16),
    text_cfg=dict(context_length=16, vocab_size=49408, width=32, heads=2, layers=2), output_dict=True,
)  # fmt: skip
words = open_clip.tokenizer.SimpleTokenizer(context_length=16)(["a cat", "two small dogs", "a diagram"])
show("words", words)
images = torch.randn(3, 3, 32, 32)
loss = ClipLoss()
show("clip", train(model, lambda m: loss(**m(images, words)), steps=2))
other = SigLipLoss()
show("siglip", other(**model(images, words), logit_bias=torch.tensor(-10.0)))
show("alike", (100 * model.encode_image(images, True) @ model.encode_text(words, True).T).softmax(-1))
show("transform", open_clip.image_transform(32, is_train=False).transforms[0].size)
