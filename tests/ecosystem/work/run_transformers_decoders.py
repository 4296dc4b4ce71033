"""transformers: GPT-2, Llama, Mixtral and T5 from small configurations, trained, saved, read, and asked to generate."""

import tempfile

import torch
from shown import show, train
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

SIZES = dict(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
ENDS = dict(bos_token_id=1, eos_token_id=2, pad_token_id=0)
MODELS = {
    "gpt2": (GPT2LMHeadModel, GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64, **ENDS)),
    "llama": (LlamaForCausalLM, LlamaConfig(num_key_value_heads=2, **SIZES, **ENDS)),
    "mixtral": (MixtralForCausalLM, MixtralConfig(num_key_value_heads=2, num_local_experts=4, **SIZES, **ENDS)),
    "t5": (T5ForConditionalGeneration, T5Config(
        vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0, **{
            **ENDS, "bos_token_id": None})),
}  # fmt: skip
tokens = torch.randint(3, 64, (2, 12), generator=torch.Generator().manual_seed(0))
for name, (kind, config) in MODELS.items():
    torch.manual_seed(0)
    model = kind(config)
    show(f"{name} training", train(model, lambda m: m(input_ids=tokens, labels=tokens).loss))
    model.eval()
    with torch.no_grad():
        logits = model(input_ids=tokens, labels=tokens).logits
    show(f"{name} logits", logits[0, -1])
    settings = dict(max_new_tokens=8, attention_mask=torch.ones_like(tokens))
    show(f"{name} greedy", model.generate(tokens, do_sample=False, **settings))
    torch.manual_seed(1)
    show(f"{name} sampled", model.generate(tokens, do_sample=True, top_k=20, top_p=0.9, temperature=0.8, **settings))
    show(f"{name} beams", model.generate(tokens, num_beams=3, do_sample=False, num_return_sequences=2, **settings))
    folder = tempfile.mkdtemp()
    model.save_pretrained(folder)
    again = kind.from_pretrained(folder).eval()
    with torch.no_grad():
        show(f"{name} read", (again(input_ids=tokens, labels=tokens).logits - logits).abs().max())
