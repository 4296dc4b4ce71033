"""pytorch-ignite: a trainer and an evaluator with metrics, handlers, a schedule and a checkpoint."""

import tempfile

import torch
from ignite.contrib.handlers import ProgressBar  # noqa: F401  imported as most programs do
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver, EarlyStopping, LRScheduler, global_step_from_engine
from ignite.metrics import Accuracy, ConfusionMatrix, Loss, Precision, Recall, RunningAverage
from shown import show
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(120, 6)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 1).long()
batches = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
criterion = nn.CrossEntropyLoss()
trainer = create_supervised_trainer(model, optimizer, criterion)
RunningAverage(output_transform=lambda loss: loss).attach(trainer, "running")
precision, recall = Precision(average=False), Recall(average=False)
metrics = {
    "accuracy": Accuracy(), "loss": Loss(criterion), "f1": (precision * recall * 2 / (precision + recall)).mean(),
    "matrix": ConfusionMatrix(3),
}  # fmt: skip
evaluator = create_supervised_evaluator(model, metrics=metrics)
trainer.add_event_handler(Events.EPOCH_STARTED, LRScheduler(torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.7)))
history = []


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine):
    """Note what the evaluator finds after an epoch."""
    evaluator.run(batches)
    found = evaluator.state.metrics
    history.append([engine.state.epoch, engine.state.metrics["running"], found["accuracy"], found["loss"]])


folder = tempfile.mkdtemp()
keep = Checkpoint(
    {"model": model, "optimizer": optimizer}, DiskSaver(folder, create_dir=True), n_saved=1,
    score_function=lambda engine: engine.state.metrics["accuracy"], score_name="accuracy",
    global_step_transform=global_step_from_engine(trainer),
)  # fmt: skip
evaluator.add_event_handler(Events.COMPLETED, keep)
stop = EarlyStopping(patience=5, score_function=lambda engine: -engine.state.metrics["loss"], trainer=trainer)
evaluator.add_event_handler(Events.COMPLETED, stop)
state = trainer.run(batches, max_epochs=4)
show("state", [state.epoch, state.iteration])
show("history", history)
show("matrix", evaluator.state.metrics["matrix"])
show("f1", evaluator.state.metrics["f1"])
Checkpoint.load_objects({"model": model}, torch.load(keep.last_checkpoint))
show("weights", model[0].weight)
