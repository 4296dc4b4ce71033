"""The callbacks for Lightning and for Hugging Face's Trainer, with the real packages where they are installed."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.torch

LIGHTNING = """
import torch
from torch import nn
import lightning.pytorch as pl
from glassgrad.why import LightningCallback

class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(8, 16), nn.Linear(16, 3)

    def training_step(self, batch, index):
        x, y = batch
        h = self.encoder(x).relu()
        h = CUT
        return nn.functional.cross_entropy(self.head(h), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

data = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
trainer = pl.Trainer(
    max_epochs=2, callbacks=[LightningCallback()], logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False, accelerator="cpu",
)
trainer.fit(Lit(), torch.utils.data.DataLoader(data, batch_size=8, shuffle=True))
"""

TRAINER = """
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
from glassgrad.why import TrainerCallback

config = BertConfig(
    vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, num_labels=3,
    max_position_embeddings=16,
)
data = [{"input_ids": torch.randint(0, 50, (12,)), "labels": torch.tensor(i % CLASSES)} for i in range(64)]
arguments = TrainingArguments(
    output_dir="out", max_steps=7, report_to=[], save_strategy="no", disable_tqdm=True, logging_strategy="no",
    use_cpu=True, learning_rate=RATE,
)
model = BertForSequenceClassification(config)
Trainer(model=model, args=arguments, train_dataset=data, callbacks=[TrainerCallback()]).train()
"""


def run(folder, source):
    """Run a script; its exit code and what it wrote to standard error."""
    (folder / "fit.py").write_text(source)
    done = subprocess.run([sys.executable, "fit.py"], cwd=folder, capture_output=True, text=True, timeout=240)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "cut, code, said",
    [
        ("h", 0, None),
        ("h.detach()", 0, "glassgrad: finding: self.encoder.weight, self.encoder.bias are never given a gradient"),
        ("h.exp().mul_(2)", 1, "glassgrad: why: a value that backward() needs was changed in place"),
        ("h.T", 1, "glassgrad: why: a matrix of 16 x 8 cannot be multiplied by one of 16 x 3."),
    ],
)
def test_lightning(tmp_path, cut, code, said):
    pytest.importorskip("lightning")
    rc, err = run(tmp_path, LIGHTNING.replace("CUT", cut))
    assert rc == code
    assert err.count("glassgrad: ") == (said is not None)  # once, though the error goes on to where Python prints it
    assert said is None or said in err and "fit.py:" in err.partition(said)[2]


@pytest.mark.parametrize(
    "classes, rate, code, said",
    [
        ("3", "5e-5", 0, None),
        ("3", "0.0", 0, "glassgrad: finding: the learning rate is 0"),
        ("4", "5e-5", 1, "glassgrad: why: label 3 is outside of the classes"),
    ],
)
def test_trainer(tmp_path, classes, rate, code, said):
    pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    rc, err = run(tmp_path, TRAINER.replace("CLASSES", classes).replace("RATE", rate))
    assert rc == code
    assert err.count("glassgrad: ") == (said is not None)
    assert said is None or said in err


def test_neither_package_is_imported_before_its_callback_is_asked_for():
    code = "import sys, glassgrad.why; print([m for m in ('lightning', 'transformers') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[]"


def test_another_name_is_absent():
    code = "import glassgrad.why as why\ntry: why.KerasCallback\nexcept AttributeError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "module 'glassgrad.why' has no attribute 'KerasCallback'"
