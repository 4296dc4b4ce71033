"""x-transformers: a decoder with rotary places and grouped queries trained, and asked for words; an encoder."""

import torch
from shown import show, train
from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper, XTransformer

torch.manual_seed(0)
tokens = torch.randint(0, 50, (2, 17))
model = AutoregressiveWrapper(TransformerWrapper(
    num_tokens=50, max_seq_len=32,
    attn_layers=Decoder(dim=32, depth=2, heads=4, rotary_pos_emb=True, use_rmsnorm=True, ff_glu=True, attn_kv_heads=2),
))  # fmt: skip
show("decoder", train(model, lambda m: m(tokens)))
show("words", model.eval().generate(tokens[:, :4], 8, temperature=0.0))
torch.manual_seed(1)
encoder = TransformerWrapper(
    num_tokens=50, max_seq_len=32, attn_layers=Encoder(dim=32, depth=1, heads=2, alibi_pos_bias=True, attn_qk_norm=True)
)
show("encoder", encoder(tokens, mask=torch.ones(2, 17).bool()))
both = XTransformer(
    dim=32, enc_num_tokens=50, enc_depth=1, enc_heads=2, enc_max_seq_len=32, dec_num_tokens=50, dec_depth=1,
    dec_heads=2, dec_max_seq_len=32,
)  # fmt: skip
show("both", train(both, lambda m: m(tokens, tokens), steps=2))
