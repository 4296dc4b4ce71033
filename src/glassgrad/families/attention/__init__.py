"""Attention, its layer with several heads, and transformers."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": "multi_head_attention_forward scaled_dot_product_attention",
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "activation": "MultiheadAttention",
    },
    "transformer": {
        "transformer": (
            "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer"
        ),
    },
}
