"""Lightning: Trainer.fit on the digits with callbacks, a checkpoint, and training resumed from it."""

import logging
import tempfile
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from shown import show
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
X, y = load_digits(return_X_y=True)
whole = TensorDataset(torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y))


class Digits(L.LightningModule):
    def __init__(self, hidden=32):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, index):
        loss = nn.functional.cross_entropy(self(batch[0]), batch[1])
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        logits = self(batch[0])
        self.log("val_loss", nn.functional.cross_entropy(logits, batch[1]), prog_bar=True)
        self.log("val_accuracy", (logits.argmax(1) == batch[1]).float().mean())

    test_step = validation_step

    def predict_step(self, batch, index):
        return self(batch[0]).argmax(1)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)]


L.seed_everything(0, verbose=False)
train, valid = random_split(whole, [1500, 297], generator=torch.Generator().manual_seed(0))
loaders = DataLoader(train, 64, shuffle=True), DataLoader(valid, 99)
folder = tempfile.mkdtemp()
checkpoint = ModelCheckpoint(folder, monitor="val_loss", save_last=True, filename="best")


def trainer(epochs, *callbacks):
    return L.Trainer(
        max_epochs=epochs, accelerator="cpu", enable_progress_bar=False, enable_model_summary=False,
        logger=CSVLogger(folder), callbacks=[*callbacks], gradient_clip_val=1.0, accumulate_grad_batches=2,
        log_every_n_steps=5,
    )  # fmt: skip


def metrics(run):
    return {name: float(value) for name, value in sorted(run.callback_metrics.items())}


first = trainer(3, checkpoint, EarlyStopping("val_loss", patience=3), LearningRateMonitor())
first.fit(Digits(), *loaders)
show("fit", metrics(first))
show("best", float(checkpoint.best_model_score))
L.seed_everything(1, verbose=False)
model = Digits()
second = trainer(5)
second.fit(model, *loaders, ckpt_path=checkpoint.last_model_path)
show("resumed", [metrics(second), second.global_step, second.current_epoch])
show("test", second.test(model, loaders[1], verbose=False))
show("predicted", torch.cat(second.predict(model, loaders[1]))[:20])
again = Digits.load_from_checkpoint(checkpoint.best_model_path)
show("loaded", [again.hparams.hidden, again(whole.tensors[0][:1]).tolist()])
