"""A script of Lightning with ``strategy="ddp"``; the losses of each step, averaged over ranks."""

import json
import sys

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

torch.manual_seed(0)
DATA = TensorDataset(torch.randn(48, 4), torch.randint(0, 3, (48,)))


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
        self.seen = []

    def _loss(self, batch):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def training_step(self, batch, index):
        loss = self._loss(batch)
        self.seen.append(self.all_gather(loss.detach()).mean().item())
        return loss

    def validation_step(self, batch, index):
        self.log("val", self._loss(batch), sync_dist=True)

    def _loader(self):
        count, rank = self.trainer.world_size, self.trainer.global_rank
        return DataLoader(DATA, 12 // count, sampler=DistributedSampler(DATA, count, rank, shuffle=False))

    train_dataloader = val_dataloader = _loader

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1, momentum=0.9)


if __name__ == "__main__":
    devices, path = int(sys.argv[1]), sys.argv[2]
    lightning.seed_everything(1)
    model = Model()
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", devices=devices, strategy="ddp", logger=False, enable_progress_bar=False,
        use_distributed_sampler=False, default_root_dir=path + "-folder",
    )  # fmt: skip
    trainer.fit(model)
    (found,) = trainer.validate(model, verbose=False)
    kept = Model.load_from_checkpoint(trainer.checkpoint_callback.best_model_path)
    if trainer.is_global_zero:
        with open(path, "w") as file:
            json.dump([*model.seen, found["val"], *(each.sum().item() for each in kept.parameters())], file)
