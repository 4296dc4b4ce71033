"""tensordict: batches of named tensors, modules by the names they read and write, parameters as one, files."""

import tempfile

import torch
from shown import show, train
from tensordict import LazyStackedTensorDict, TensorDict, tensorclass
from tensordict.nn import TensorDictModule, TensorDictSequential

torch.manual_seed(0)
batch = TensorDict({"x": torch.randn(8, 4), "more": {"label": torch.arange(8) % 3}}, batch_size=[8])
show("text", str(batch))
show("part", batch[2:5]["x"])
show("nested", batch["more", "label"])
show("sum", (batch["x"] * 2).sum())
show("arithmetic", (batch.select("x") * 2 + 1).apply(torch.tanh)["x"])
show("shapes", [list(one.shape) for one in (batch.reshape(2, 4), batch.unsqueeze(0), torch.stack([batch, batch], 1))])
show("cat", torch.cat([batch, batch[:2]])["more", "label"])
show("gathered", batch.gather(0, torch.tensor([0, 7]))["x"])
show("flat", sorted(batch.flatten_keys(".").keys()))
show("kinds", [str(value.dtype) for value in batch.to(torch.float64).values(True, True)])
lazy = LazyStackedTensorDict(TensorDict({"a": torch.ones(2)}), TensorDict({"a": torch.zeros(2)}), stack_dim=0)
show("lazy", lazy["a"])

network = TensorDictSequential(
    TensorDictModule(torch.nn.Linear(4, 16), in_keys=["x"], out_keys=["hidden"]),
    TensorDictModule(torch.nn.Tanh(), in_keys=["hidden"], out_keys=["hidden"]),
    TensorDictModule(torch.nn.Linear(16, 3), in_keys=["hidden"], out_keys=["scores"]),
)
loss = torch.nn.CrossEntropyLoss()
show("losses", train(network, lambda m: loss(m(batch.clone())["scores"], batch["more", "label"]), steps=5, lr=1e-2))

linear = torch.nn.Linear(4, 2)
parameters = TensorDict.from_module(linear)
with (parameters.detach() * 0.5).to_module(linear):
    show("halved", linear(batch["x"]))
show("whole", linear(batch["x"]))
show("mapped", torch.vmap(lambda one: one["x"].sum() * one["more", "label"])(batch))


@tensorclass
class Step:
    """A step of an episode."""

    seen: torch.Tensor
    reward: torch.Tensor


steps = Step(seen=torch.randn(4, 3), reward=torch.arange(4.0), batch_size=[4])
show("steps", [steps[1:].seen.tolist(), steps.reward.cumsum(0).tolist(), list(torch.stack([steps, steps]).shape)])
with tempfile.TemporaryDirectory() as folder:
    batch.detach().memmap(folder)
    show("read", TensorDict.load_memmap(folder)["x"])
