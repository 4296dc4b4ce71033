"""transformers: BERT and ViT from small configurations, trained, saved and read."""

import tempfile

import torch
from shown import show, train
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    ViTConfig,
    ViTForImageClassification,
)

SIZES = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
random = torch.Generator().manual_seed(0)
tokens = torch.randint(3, 64, (2, 12), generator=random)
mask = (torch.arange(12) < torch.tensor([[12], [7]])).long()
images = torch.randn(2, 3, 16, 16, generator=random)
bert, vit = BertConfig(vocab_size=64, **SIZES), ViTConfig(image_size=16, patch_size=4, **SIZES)
MODELS = {
    "bert for words": (BertForMaskedLM, bert, dict(input_ids=tokens, attention_mask=mask, labels=tokens)),
    "bert for classes": (
        BertForSequenceClassification, bert, dict(input_ids=tokens, attention_mask=mask, labels=torch.tensor([0, 1]))),
    "vit": (ViTForImageClassification, vit, dict(pixel_values=images, labels=torch.tensor([0, 1]))),
}  # fmt: skip
for name, (kind, config, batch) in MODELS.items():
    torch.manual_seed(0)
    model = kind(config)
    show(f"{name} training", train(model, lambda m, batch=batch: m(**batch).loss))
    folder = tempfile.mkdtemp()
    model.save_pretrained(folder)
    again = kind.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        out = again(**batch, output_hidden_states=True, output_attentions=True)
    show(f"{name} logits", out.logits)
    show(f"{name} attention", out.attentions[-1])
