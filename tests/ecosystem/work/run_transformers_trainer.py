"""transformers: its Trainer, with evaluation, a scheduler, a checkpoint, and training resumed from it."""

import glob
import tempfile

import numpy as np
import torch
from shown import show
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

random = torch.Generator().manual_seed(0)
tokens = torch.randint(3, 64, (48, 8), generator=random)
data = [dict(input_ids=row, labels=int(row.sum()) % 2) for row in tokens]
folder = tempfile.mkdtemp()


def trainer(steps):
    set_seed(0)
    model = BertForSequenceClassification(
        BertConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
    )
    arguments = TrainingArguments(
        folder, max_steps=steps, per_device_train_batch_size=8, learning_rate=5e-3, logging_steps=2, save_steps=6,
        eval_strategy="steps", eval_steps=6, report_to=[], disable_tqdm=True, use_cpu=True, warmup_steps=2,
        lr_scheduler_type="cosine", gradient_accumulation_steps=2,
    )  # fmt: skip
    return Trainer(
        model, arguments, train_dataset=data[:40], eval_dataset=data[40:],
        compute_metrics=lambda p: {"accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))},
    )  # fmt: skip


def history(run):
    names = ("loss", "grad_norm", "learning_rate", "eval_loss", "eval_accuracy", "step")
    return [{name: row[name] for name in names if name in row} for row in run.state.log_history]


first = trainer(6)
first.train()
show("first", history(first))
second = trainer(12)
second.train(resume_from_checkpoint=max(glob.glob(f"{folder}/checkpoint-*")))
show("resumed", history(second))
show("predicted", torch.from_numpy(second.predict(data[40:]).predictions))
