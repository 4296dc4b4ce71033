"""peft: low-rank adapters on a small GPT-2, trained, saved, read and merged."""

import tempfile

import torch
from peft import IA3Config, LoraConfig, PeftModel, PrefixTuningConfig, TaskType, get_peft_model
from shown import show, train
from transformers import GPT2Config, GPT2LMHeadModel

config = GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=1, eos_token_id=2)
tokens = torch.randint(3, 64, (2, 12), generator=torch.Generator().manual_seed(0))


def base():
    torch.manual_seed(0)
    return GPT2LMHeadModel(config)


KINDS = {
    "lora": LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, lora_alpha=8, lora_dropout=0.1, target_modules=["c_attn"]),
    "dora": LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, use_dora=True, target_modules=["c_attn"]),
    "ia3": IA3Config(task_type=TaskType.CAUSAL_LM, target_modules=["c_attn"], feedforward_modules=[]),
    "prefix": PrefixTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=4),
}
for name, kind in KINDS.items():
    model = get_peft_model(base(), kind)
    show(f"{name} parameters", list(model.get_nb_trainable_parameters()))
    show(name, train(model, lambda m: m(input_ids=tokens, labels=tokens).loss, lr=1e-2))
    folder = tempfile.mkdtemp()
    model.save_pretrained(folder)
    again = PeftModel.from_pretrained(base(), folder).eval()
    with torch.no_grad():
        show(f"{name} logits", again(tokens).logits[0, -1])
        if name in ("lora", "dora"):
            show(f"{name} merged", again.merge_and_unload()(tokens).logits[0, -1])
