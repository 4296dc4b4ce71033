"""safetensors: a model's weights written, read again, and read in part."""

import tempfile
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load, load_file, load_model, save, save_file, save_model
from shown import show
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
file = Path(tempfile.mkdtemp(), "model.safetensors")
save_file({**model.state_dict(), "half": torch.randn(3).bfloat16()}, file, metadata={"format": "pt"})
read = load_file(file)
show("names", sorted(read))
show("half", [str(read["half"].dtype), read["half"].float().tolist()])
show("weight", read["0.weight"])
with safe_open(file, framework="pt", device="cpu") as opened:
    show("part", opened.get_slice("0.weight")[1:3, :2])
    show("whole", opened.get_tensor("2.bias"))
    show("metadata", opened.metadata())
show("bytes", len(save(model.state_dict())))
show("again", load(save(model.state_dict()))["2.weight"])
save_model(model, str(file))
other = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
show("missing", [list(names) for names in load_model(other, str(file))])
show("loaded", other(torch.ones(3, 4)))
