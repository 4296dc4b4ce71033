"""torchinfo: the table of a model's layers."""

import torch
from shown import show
from torch import nn
from torchinfo import summary

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 49, 10)
)
table = summary(
    model, input_size=(2, 1, 14, 14), verbose=0, col_names=("input_size", "output_size", "num_params", "mult_adds")
)
show("table", str(table))
show("counts", [table.total_params, table.trainable_params, table.total_mult_adds])
lstm = summary(nn.LSTM(4, 8, 2, batch_first=True), input_size=(2, 5, 4), verbose=0)
show("lstm", str(lstm))
