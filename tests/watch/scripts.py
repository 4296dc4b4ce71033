"""Scripts as people write them: those that fail, those that learn nothing and say nothing, and healthy ones."""

PRELUDE = """
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
X, Y = torch.randn(32, 4), torch.randint(0, 3, (32,))
T = X.sum(1, keepdim=True)

def mlp(out=3):
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, out))
"""


def loop(body, make="model = mlp()", optimizer="optimizer = torch.optim.SGD(model.parameters(), lr=0.1)", steps=7):
    """A training script: the body is the step."""
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    return f"{PRELUDE}\n{make}\n{optimizer}\nfor step in range({steps}):\n{lines}\n"


STEP = """
optimizer.zero_grad()
loss = F.cross_entropy(model(X), Y)
loss.backward()
optimizer.step()
"""

#: What goes wrong without a word, by the kind of the finding; the text after ``#!`` marks the line that did it.
SILENT = {
    "zero_grad": loop(
        """
loss = F.cross_entropy(model(X), Y)
loss.backward()  #!
optimizer.step()
"""
    ),
    "never stepped": loop("optimizer.zero_grad()\nloss = F.cross_entropy(model(X), Y)\nloss.backward()  #!"),
    "no backward": loop("optimizer.zero_grad()\nloss = F.cross_entropy(model(X), Y)\noptimizer.step()  #!"),
    "order": loop(
        """
loss = F.cross_entropy(model(X), Y)
loss.backward()
optimizer.zero_grad()
optimizer.step()  #!
"""
    ),
    "order, step first": loop(
        """
optimizer.zero_grad()
optimizer.step()  #!
loss = F.cross_entropy(model(X), Y)
loss.backward()
"""
    ),
    "clipped late": loop(
        """
optimizer.zero_grad()
loss = F.cross_entropy(model(X), Y)
loss.backward()
optimizer.step()  #!
torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
"""
    ),
    "lr": loop(
        STEP.replace("optimizer.step()", "optimizer.step()  #!"),
        optimizer="optimizer = torch.optim.SGD(model.parameters(), lr=0.0)",
    ),
    "softmax twice": loop(STEP.replace("model(X), Y)", "model(X).softmax(1), Y)  #!")),
    "softmax twice, sigmoid": loop(STEP.replace("model(X), Y)", "torch.sigmoid(model(X)), Y)  #!")),
    "sigmoid twice": loop(
        STEP.replace(
            "F.cross_entropy(model(X), Y)",
            "F.binary_cross_entropy_with_logits(torch.sigmoid(model(X)), (T > 0).float())  #!",
        ),
        make="model = mlp(1)",
    ),
    "raw nll": loop(STEP.replace("F.cross_entropy(model(X), Y)", "F.nll_loss(model(X), Y)  #!")),
    "broadcast": loop(
        STEP.replace("F.cross_entropy(model(X), Y)", "((model(X) - T.squeeze(1)) ** 2).mean()  #!"),
        make="model = mlp(1)",
    ),
    "broadcast, mse_loss": loop(
        STEP.replace("F.cross_entropy(model(X), Y)", "F.mse_loss(model(X), T.squeeze(1))  #!"), make="model = mlp(1)"
    ),
    "broadcast, without a word": loop(
        STEP.replace(
            "F.cross_entropy(model(X), Y)", "(F.smooth_l1_loss, F.huber_loss)[step % 2](model(X), T.squeeze(1))  #!"
        ),
        make="import warnings\nwarnings.simplefilter('ignore')\nmodel = mlp(1)",
    ),
    "unreached": loop(
        STEP,
        make="""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.encoder(x).detach())  #!

model = Net()
""",
    ),
    "unreached, no_grad": loop(
        STEP,
        make="""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        with torch.no_grad():
            h = self.encoder(x)  #!
        return self.head(h)

model = Net()
""",
    ),
    "unreached, numpy": loop(
        STEP.replace("model(X)", "second(torch.tensor(model(X).detach().numpy()))"),
        make="model = mlp(); second = nn.Linear(3, 3)",
        optimizer="optimizer = torch.optim.SGD([*model.parameters(), *second.parameters()], lr=0.1)",
    ),
    "not in optimizer": loop(
        STEP.replace("model(X)", "model.head(model.encoder(X))"),
        make="model = nn.ModuleDict(dict(encoder=nn.Linear(4, 8), head=nn.Linear(8, 3)))",
        optimizer="optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)  #!",
    ),
    "replaced": loop(
        STEP, optimizer="optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  #!\nmodel[2] = nn.Linear(16, 3)"
    ),
    "list": loop(
        STEP,
        make="""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4) for _ in range(3)]  #!
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.head(x)

model = Net()
""",
    ),
    "nan": loop(STEP.replace("model(X), Y)", "torch.log(model(X)), Y)  #!")),
    "nan, later": loop(STEP, optimizer="optimizer = torch.optim.SGD(model.parameters(), lr=1e30)"),
    "nan, in the data": loop(STEP, make="X[3, 1] = float('nan')\nmodel = mlp()"),
    "nan gradient": loop(
        STEP.replace("F.cross_entropy(model(X), Y)", "torch.where(mask, (model(X) * 0).sqrt(), torch.zeros(())).sum()"),
        make="model = mlp()\nmask = torch.zeros(32, 3, dtype=torch.bool)",
    ),
    "zero gradients": loop(STEP.replace("model(X), Y)", "model(X).sign(), Y)  #!")),
    "zero gradients, multiplied": loop(STEP.replace("model(X), Y)", "model(X) * 0.0, Y)  #!")),
    "unchanged": loop(
        STEP + "model.load_state_dict(saved)\n",
        make="model = mlp()\nsaved = {name: value.clone() for name, value in model.state_dict().items()}",
    ),
    "data write": loop(
        """
optimizer.zero_grad()
h = torch.sigmoid(model(X))
h.data[h.data < 0.5] = 0  #!
loss = F.cross_entropy(h * h, Y)
loss.backward()
optimizer.step()
"""
    ),
    "data write, a weight": loop(
        """
optimizer.zero_grad()
loss = F.cross_entropy(model(X), Y)
model[2].weight.data.clamp_(-0.01, 0.01)  #!
loss.backward()
optimizer.step()
"""
    ),
    "data write, set": loop(
        """
optimizer.zero_grad()
h = torch.exp(model(X))
h.data = h.data.clamp(max=2.0)  #!
loss = F.cross_entropy(h, Y)
loss.backward()
optimizer.step()
"""
    ),
    "dead units": loop(
        STEP.replace("model(X), Y)", "model(X), Y)  #!"),
        make="""
model = mlp()
nn.init.constant_(model[0].bias, -10.0)
""",
    ),
    "dead units, died": loop(
        STEP.replace("model(X), Y)", "model(X), Y)  #!")
        + "if step == 4:\n    with torch.no_grad():\n        model[0].bias -= 20  # as a step that is too large may\n",
        steps=60,
    ),
    "labels": loop(
        STEP.replace(
            "F.cross_entropy(model(X), Y)",
            "F.binary_cross_entropy_with_logits(model(X), T.sign())  #!",
        ),
        make="model = mlp(1)",
    ),
    "labels ignored": loop(
        STEP.replace("F.cross_entropy(model(X), Y)", "F.cross_entropy(model(X), Y, reduction='sum')  #!"),
        make="model = mlp()\nY = torch.full((32,), -100)",
    ),
    "one class": loop(
        STEP.replace("model(X), Y)", "model(X), labels[4 * step : 4 * step + 32])  #!"),
        make="model = mlp()\nlabels = torch.zeros(640, dtype=torch.long)\nlabels[600:] = 1",
    ),
    "nan, in a weight": loop(
        STEP.replace("model(X)", "model(X)"),
        make="model = mlp()\nwith torch.no_grad():\n    model[0].weight[0, 0] = float('inf')",
    ),
    "huge updates": loop(
        STEP.replace("optimizer.step()", "optimizer.step()  #!"),
        optimizer="optimizer = torch.optim.SGD(model.parameters(), lr=30.0)",
        steps=14,
    ),
    "tiny updates": loop(
        STEP.replace("optimizer.step()", "optimizer.step()  #!"),
        optimizer="optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)",
        steps=14,
    ),
    "batch of one": loop(
        STEP.replace("model(X), Y)", "model(X.view(32, 1, 2, 2)[step : step + 1]), Y[:1])"),
        make="model = nn.Sequential(\n    nn.Conv2d(1, 4, 1), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 3)\n)",
    ),
    "leaf loss": loop(
        STEP.replace("loss.backward()", "loss = torch.tensor(loss.item(), requires_grad=True)\nloss.backward()  #!")
    ),
    "graph kept": loop(
        """
optimizer.zero_grad()
hidden = torch.tanh(model(X) + hidden)
loss = hidden.pow(2).mean()
loss.backward(retain_graph=True)  #!
with torch.no_grad():
    pass
""",
        make="model = mlp()\nhidden = torch.zeros(32, 3)",
        optimizer="optimizer = torch.optim.SGD(model.parameters(), lr=0.0001)",
    ),
    "losses kept": loop(STEP + "losses.append(loss)\n", make="model = mlp()\nlosses = []"),
    "losses kept, summed": loop(STEP + "total += loss  #!\n", make="model = mlp()\ntotal = 0", steps=20),
    "not in optimizer, alone": loop(
        STEP.replace("model(X)", "model(X * gate)"),
        make="model = mlp()\ngate = nn.Parameter(torch.ones(4)).double().float()",
        optimizer="optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  #!",
    ),
    "huge updates, at first": loop(
        STEP.replace("optimizer.step()", "optimizer.step()  #!"),
        optimizer="optimizer = torch.optim.Adam(model.parameters(), lr=5.0)",
        steps=30,
    ),
    "nan, a power": loop(
        STEP.replace("F.cross_entropy(model(X), Y)", "(model(X) ** 0.5).mean()  #!"),
    ),
    "nan, steps too large": loop(
        STEP.replace("F.cross_entropy(model(X), Y)", "F.mse_loss(model(100 * X), 1000 * T, reduction='sum')").replace(
            "optimizer.step()", "optimizer.step()  #!"
        ),
        make="model = mlp(1)",
        steps=20,
    ),
    "unreached, copied": loop(
        """
losses = [F.cross_entropy(model(row), label) for row, label in zip(X, Y)]
loss = torch.tensor(losses, requires_grad=True).mean()  #!
optimizer.zero_grad()
loss.backward()
optimizer.step()
"""
    ),
    "list, in a dict": loop(
        STEP,
        make="""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 8)
        self.heads = {"a": nn.Linear(8, 3), "b": nn.Linear(8, 3)}  #!

    def forward(self, x):
        return sum(head(self.trunk(x)) for head in self.heads.values())

model = Net()
""",
    ),
    "eval mode": loop(STEP, make="model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)).eval()"),
    "scheduler": loop(
        STEP.replace("optimizer.step()", "scheduler.step()  #!\noptimizer.step()"),
        optimizer="optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)",
    ),
}

#: Of these, everything that is found is one finding: what follows from a cause is not told beside it.
ONCE = (
    "order, step first", "dead units", "labels ignored", "list, in a dict", "unreached, copied", "nan, steps too large",
    "nan, later",
)  # fmt: skip

#: What must give no finding.
HEALTHY = {
    "critic, with a penalty": loop(
        """
real, fake = X + 2, X.roll(1, 0)
middle = ((real + fake) / 2).requires_grad_()
(slope,) = torch.autograd.grad(model(middle).sum(), middle, create_graph=True)
loss = model(fake).mean() - model(real).mean() + 10 * ((slope.norm(dim=1) - 1) ** 2).mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()
""",
        make="model = mlp(1)",
        optimizer="optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)",
    ),
    "all with all": loop(
        """
optimizer.zero_grad()
gaps = points[:, None] - points[None]
misses = points[:, None] - T.squeeze(1)
loss = (gaps.abs() - 1).pow(2).mean() + misses.abs().mean()
loss.backward()
optimizer.step()
""",
        make="points = nn.Parameter(torch.randn(32))",
        optimizer="optimizer = torch.optim.SGD([points], lr=0.1)",
    ),
    "embeddings, small at first": loop(
        """
optimizer.zero_grad()
score = (first(Y) * second(Y.roll(1))).sum(1)
loss = F.binary_cross_entropy_with_logits(score, (Y > 1).float())
loss.backward()
optimizer.step()
""",
        make="first, second = nn.Embedding(3, 8), nn.Embedding(3, 8)\n"
        "nn.init.uniform_(first.weight, -0.05, 0.05)\nnn.init.uniform_(second.weight, -0.05, 0.05)",
        optimizer="optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.02)",
        steps=30,
    ),
    "mlp": loop(STEP),
    "adam, accumulating": loop(
        """
loss = F.cross_entropy(model(X), Y) / 2
loss.backward()
if step % 2:
    optimizer.step()
    optimizer.zero_grad()
""",
        optimizer="optimizer = torch.optim.Adam(model.parameters(), lr=0.01)",
        steps=14,
    ),
    "by hand": loop(
        """
loss = F.cross_entropy(model(X), Y)
loss.backward()
with torch.no_grad():
    for p in model.parameters():
        p -= 0.1 * p.grad
        p.grad = None
""",
        optimizer="",
    ),
    "closure": loop(
        """
def closure():
    optimizer.zero_grad()
    loss = F.cross_entropy(model(X), Y)
    loss.backward()
    return loss
optimizer.step(closure)
""",
        optimizer="optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)",
    ),
    "frozen backbone": loop(
        STEP.replace("model(X)", "head(backbone(X))"),
        make="backbone = mlp(8)\nbackbone.requires_grad_(False)\nbackbone.eval()\nhead = nn.Linear(8, 3)\nmodel = head",
    ),
    "gan": loop(
        """
fake = model(torch.randn(32, 4))
loss = F.binary_cross_entropy_with_logits(critic(X), torch.ones(32, 1))
loss = loss + F.binary_cross_entropy_with_logits(critic(fake.detach()), torch.zeros(32, 1))
other.zero_grad()
loss.backward()
other.step()
loss = F.binary_cross_entropy_with_logits(critic(fake), torch.ones(32, 1))
optimizer.zero_grad()
loss.backward()
optimizer.step()
""",
        make="model, critic = mlp(4), mlp(1)",
        optimizer="optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n"
        "other = torch.optim.Adam(critic.parameters(), lr=1e-3)",
    ),
    "vae": loop(
        """
optimizer.zero_grad()
mean, log_variance = model.encoder(X).chunk(2, 1)
z = mean + torch.randn_like(mean) * (log_variance / 2).exp()
loss = F.mse_loss(model.decoder(z), X) - 0.5 * (1 + log_variance - mean**2 - log_variance.exp()).mean()
loss.backward()
optimizer.step()
""",
        make="model = nn.ModuleDict(dict(encoder=mlp(4), decoder=nn.Linear(2, 4)))",
    ),
    "lstm": loop(
        STEP.replace("model(X)", "head(model(X.view(32, 4, 1))[0][:, -1])"),
        make="model, head = nn.LSTM(1, 8, batch_first=True), nn.Linear(8, 3)",
        optimizer="optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=0.01)\nhidden = None",
    ),
    "lstm, carried over": loop(
        """
optimizer.zero_grad()
out, hidden = model(X.view(32, 4, 1), hidden)
hidden = tuple(h.detach() for h in hidden)
loss = out.pow(2).mean()
loss.backward()
optimizer.step()
""",
        make="model = nn.LSTM(1, 8, batch_first=True)\nhidden = None",
    ),
    "convolutions": loop(
        STEP.replace("model(X)", "model(X.view(32, 1, 2, 2))"),
        make="model = nn.Sequential(\n    nn.Conv2d(1, 4, 2), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.1), "
        "nn.Flatten(), nn.Linear(4, 3)\n)",
    ),
    "transformer": loop(
        STEP.replace("model(X)", "head(model(table(Y.view(8, 4))).mean(1))").replace(", Y)", ", Y[:8])"),
        make="table, head = nn.Embedding(3, 8), nn.Linear(8, 3)\n"
        "model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)",
        optimizer="everything = [*table.parameters(), *model.parameters(), *head.parameters()]\n"
        "optimizer = torch.optim.AdamW(everything, lr=1e-3)",
    ),
    "weight norm": loop(
        STEP,
        make="first = nn.utils.parametrizations.weight_norm(nn.Linear(4, 16))\n"
        "model = nn.Sequential(first, nn.Tanh(), nn.Linear(16, 3))",
    ),
    "spectral norm": loop(
        STEP,
        make="first = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 16))\n"
        "model = nn.Sequential(first, nn.Tanh(), nn.Linear(16, 3))",
    ),
    "diffusion": loop(
        """
t = torch.rand(32, 1)
noise = torch.randn_like(X)
noisy = (1 - t).sqrt() * X + t.sqrt() * noise
loss = F.mse_loss(model(torch.cat([noisy, t], 1)), noise)
optimizer.zero_grad()
loss.backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step()
scheduler.step()
""",
        make="model = nn.Sequential(nn.Linear(5, 32), nn.SiLU(), nn.Linear(32, 4))",
        optimizer="optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)\n"
        "scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 7)",
    ),
    "low rank": loop(
        STEP.replace("model(X)", "model(X) + X @ a @ b"),
        make="model = mlp()\nmodel.requires_grad_(False)\n"
        "a, b = nn.Parameter(torch.randn(4, 2)), nn.Parameter(torch.zeros(2, 3))",
        optimizer="optimizer = torch.optim.Adam([a, b], lr=0.01)",
    ),
    "policy gradient": loop(
        """
optimizer.zero_grad()
policy = torch.distributions.Categorical(logits=model(X))
action = policy.sample()
loss = -(policy.log_prob(action) * (action == Y)).mean()
loss.backward()
optimizer.step()
"""
    ),
    "warm-up": loop(
        STEP + "scheduler.step()\n",
        optimizer="optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 3))",
    ),
    "losses as numbers": loop(STEP + "losses.append(loss.item())\n", make="model = mlp()\nlosses = []"),
}

#: What ends with an error: the kind, and the script with the culprit's line marked.
FAILING = {
    "in-place": loop(
        """
optimizer.zero_grad()
h = torch.sigmoid(model(X))
if step == 2:
    h += 1  #!
loss = h.sum()
loss.backward()
"""
    ),
    "in-place, a layer": loop(
        STEP.replace("model(X), Y)", "act(torch.exp(model(X))), Y)  #!"),
        make="model = mlp()\nact = nn.ReLU(inplace=True)",
    ),
    "freed": loop(
        """
optimizer.zero_grad()
hidden = torch.tanh(model(X) * hidden)
hidden.sum().backward()  #!
optimizer.step()
""",
        make="model = mlp()\nhidden = torch.ones(32, 3)",
    ),
    "no graph": loop(
        """
loss = F.cross_entropy(model(X).detach(), Y)  #!
loss.backward()
"""
    ),
    "no graph, argmax": loop(
        """
loss = (model(X).argmax(1) == Y).float().mean()  #!
loss.backward()
"""
    ),
    "not scalar": loop("F.cross_entropy(model(X), Y, reduction='none').backward()  #!"),
    "leaf in place": PRELUDE + "\nw = torch.ones(3, requires_grad=True)\nw += 1  #!\n",
    "unused": PRELUDE
    + "\nx = torch.ones(3, requires_grad=True)\nz = torch.ones(3, requires_grad=True)\n"
    + "torch.autograd.grad((x * 2).sum(), z)  #!\n",
    "numpy": PRELUDE + "\nx = torch.ones(3, requires_grad=True)\n(x * 2).numpy()  #!\n",
    "no leaf": PRELUDE
    + "\nw = torch.randn(4, 3, requires_grad=True) * 0.1\n(X @ w).sum().backward()\nw.grad.zero_()  #!\n",
    "no gradient": PRELUDE
    + "\nw, u = torch.ones(4, 3, requires_grad=True), torch.ones(3, requires_grad=True)\n"
    + "(X @ w).sum().backward()\nprint(u.grad.norm())  #!\n",
    "shape": PRELUDE + "\nmodel = mlp()\nmodel(torch.randn(8, 5))  #!\n",
    "shape, broadcast": PRELUDE + "\na, b = torch.ones(3, 4), torch.ones(3)\na + b  #!\n",
    "dtype": PRELUDE + "\nmodel = mlp()\nmodel(X.double())  #!\n",
    "labels": PRELUDE + "\nmodel = mlp()\nF.cross_entropy(model(X), Y + 1)  #!\n",
    "index": PRELUDE + "\ntable = nn.Embedding(3, 8)\ntable(Y + 1)  #!\n",
    "batch of one": PRELUDE + "\nmodel = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))\nmodel(X[:1])  #!\n",
    "no parameters": PRELUDE
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4), nn.Linear(4, 3)]

net = Net()
torch.optim.SGD(net.parameters(), lr=0.1)  #!
""",
    "no leaf, optimizer": PRELUDE
    + "\nw = torch.randn(3, requires_grad=True) * 0.1\ntorch.optim.SGD([w], lr=0.1)  #!\n",
}
