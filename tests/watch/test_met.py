"""Scripts that failed other people: told after questions on forums and in issues, and answered rightly.

Each is written anew after what was asked there, with data made up; ``kind`` is what the finding is called, ``line`` the
text of the line that did it (None where only a second run, recorded, would tell).
"""

import pytest

from tests.watch.test_why import run

pytestmark = pytest.mark.torch

SCRIPTS = {
    "yolo sqrt": (
        "nan",
        None,
        """
import torch
import torch.nn as nn
torch.manual_seed(0)
class Yolo(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.1), nn.Linear(32, 4))
    def forward(self, x):
        return self.features(x)
net = Yolo()
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for i in range(20):
    pred = net(torch.randn(8, 16))
    target = torch.rand(8, 4)
    xy = ((pred[:, :2] - target[:, :2]) ** 2).sum()
    wh = ((torch.sqrt(pred[:, 2:]) - torch.sqrt(target[:, 2:])) ** 2).sum()
    loss = 5 * (xy + wh)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, loss.item())
""",
    ),
    "sign threshold": (
        "zero",
        None,
        """
import torch
import torch.nn as nn
class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, 8, 3, padding=1)
        self.head = nn.Conv2d(8, 1, 1)
        self.learnable_thresh = nn.Parameter(torch.tensor(0.0157))
    def forward(self, x, recon):
        difference_map = torch.mean(torch.abs(x - recon), dim=1, keepdim=True)
        difference_map_mask = (torch.sign(difference_map - self.learnable_thresh) + 1) * 0.5
        feats = self.backbone(x)
        feats = feats * difference_map_mask + feats
        return self.head(feats)
model = Detector()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0)
for it in range(30):
    x = torch.rand(2, 3, 16, 16)
    out = model(x, x + 0.05 * torch.randn_like(x))
    loss = (out - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(model.learnable_thresh)
""",
    ),
    "broadcast forum": (
        "broadcast",
        "(out - y) ** 2",
        """
import torch
from torch.autograd import Variable
x = Variable(torch.Tensor([[1, 2.0], [1, 3.0], [1, 7.0], [1, 9.0]]))
y = Variable(torch.Tensor([2.0, 3.0, 7.0, 9.0]))
weights = Variable(torch.randn(2, 1), requires_grad=True)
bias = Variable(torch.randn(1), requires_grad=True)
optimizer = torch.optim.Adam([weights, bias], lr=0.001)
loss_history = []
for i in range(300):
    out = x.mm(weights).add_(bias)
    loss = torch.mean((out - y) ** 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss_history.append(loss.item())
print(loss_history[-1])
""",
    ),
    "argmax loss": (
        "no graph",
        "argmax(dim=1)",
        """
import torch
from torch import nn
torch.manual_seed(42)
X_train = torch.randn(100, 2)
y_train = torch.randint(0, 4, (100,)).float()
model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 4))
loss_fn = nn.CrossEntropyLoss()
optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
epochs = 20
for epoch in range(epochs):
    model.train()
    train_logits = model(X_train)
    train_preds_probs = torch.softmax(train_logits, dim=1).argmax(dim=1).type(torch.float32)
    loss = loss_fn(train_preds_probs, y_train)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
""",
    ),
    "column in place": (
        "in-place",
        "b[i] = b[i] + 1",
        """
import torch
import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.param = nn.Parameter(torch.randn(10, 10))
    def forward(self, a):
        y = 0
        b = torch.mm(self.param, a)
        for i in range(10):
            b[i] = b[i] + 1
            y = y + torch.mm(self.param, b)
        return y
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(5):
    opt.zero_grad()
    loss = net(torch.randn(10, 1)).pow(2).mean()
    loss.backward()
    opt.step()
""",
    ),
    "argmax between modules": (
        "unreached",
        None,
        """
import torch
import torch.nn as nn
import torch.nn.functional as F
first_model = nn.Linear(6, 5)
second_model = nn.Sequential(nn.Embedding(5, 8), nn.Linear(8, 3))
opt = torch.optim.SGD(list(first_model.parameters()) + list(second_model.parameters()), lr=0.1)
x = torch.randn(32, 6)
y = torch.randint(0, 3, (32,))
for i in range(30):
    opt.zero_grad()
    y_p = first_model(x)
    y_p = torch.max(y_p, 1)[1]
    loss = F.cross_entropy(second_model(y_p), y)
    loss.backward()
    opt.step()
    for param in first_model.parameters():
        print("grad data: ", None if param.grad is None else param.grad.norm())
""",
    ),
    "dice threshold": (
        "no graph",
        "(pr > threshold)",
        """
import torch
import torch.nn as nn
def dice(pr, gt, eps=1.0, threshold=0.5):
    pr = (pr > threshold).type(pr.dtype)
    tp = torch.sum(gt * pr)
    fp = torch.sum(pr) - tp
    fn = torch.sum(gt) - tp
    return 1 - (2 * tp + eps) / (2 * tp + fp + fn + eps)
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
images = torch.randn(4, 1, 8, 8)
masks = (torch.rand(4, 1, 8, 8) > 0.5).float()
for epoch in range(5):
    optimizer.zero_grad()
    loss = dice(net(images), masks)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
""",
    ),
    "dice threshold requires grad": (
        "unreached",
        None,
        """
import torch
import torch.nn as nn
def dice(pr, gt, eps=1.0, threshold=0.5):
    pr = torch.tensor((pr > threshold).type(pr.dtype), requires_grad=True)
    tp = torch.sum(gt * pr)
    fp = torch.sum(pr) - tp
    fn = torch.sum(gt) - tp
    return 1 - (2 * tp + eps) / (2 * tp + fp + fn + eps)
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
images = torch.randn(4, 1, 8, 8)
masks = (torch.rand(4, 1, 8, 8) > 0.5).float()
for epoch in range(5):
    optimizer.zero_grad()
    loss = dice(net(images), masks)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
""",
    ),
    "stack argmax": (
        "no graph",
        "torch.argmax(xs, 1)",
        """
import torch
import torch.nn as nn
net = nn.Conv2d(3, 30, 1)
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
coor_bin = 10
for i in range(4):
    out = net(torch.randn(2, 3, 8, 8))
    xs, ys, zs = out.split(coor_bin, dim=1)
    coor = torch.stack([torch.argmax(xs, 1), torch.argmax(ys, 1), torch.argmax(zs, 1)], 2)
    coor = 2.0 * coor.float() / (coor_bin - 1.0) - 1.0
    loss = nn.functional.l1_loss(coor, torch.zeros_like(coor))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "rnn hidden": (
        "freed",
        "loss.backward()",
        """
import torch
import torch.nn as nn
class RNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 8, batch_first=True)
        self.fc = nn.Linear(8, 1)
    def forward(self, x, hidden):
        out, hidden = self.rnn(x, hidden)
        return self.fc(out[:, -1]), hidden
model = RNN()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
hidden = (torch.zeros(1, 2, 8), torch.zeros(1, 2, 8))
for epoch in range(5):
    optimizer.zero_grad()
    output, hidden = model(torch.randn(2, 5, 4), hidden)
    loss = criterion(output, torch.randn(2, 1))
    loss.backward()
    optimizer.step()
""",
    ),
    "psnr log": (
        "nan",
        None,
        """
import torch
import torch.nn as nn
torch.manual_seed(1)
net = nn.Conv2d(1, 1, 3, padding=1)
nn.init.dirac_(net.weight)
nn.init.zeros_(net.bias)
opt = torch.optim.Adam(net.parameters(), lr=2e-4)
for step in range(10):
    target = torch.rand(2, 1, 8, 8)
    pred = net(target)
    loss = torch.log(((pred - target) ** 2).mean(dim=(1, 2, 3))).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
""",
    ),
    "leaf in place": (
        "leaf",
        "x -= 0.1 * x.grad",
        """
import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
for step in range(5):
    loss = (x ** 2).sum()
    loss.backward()
    x -= 0.1 * x.grad
    x.grad.zero_()
""",
    ),
    "nonleaf to": (
        "",
        "x -= lr * x.grad",
        """
import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(10, requires_grad=True).to(torch.float64).to(device)
target = torch.linspace(1, 10, 10, dtype=torch.float64)
lr = 0.1
for t in range(10):
    y = ((x * target - 3) ** 2).sum()
    y.backward()
    with torch.no_grad():
        x -= lr * x.grad
        x.grad.zero_()
print(x)
""",
    ),
    "memonger checkpoint": (
        "unreached",
        None,
        """
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint
class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
        self.layer2 = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.ReLU())
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        out = checkpoint(self.layer1, x, use_reentrant=True)
        out = checkpoint(self.layer2, out, use_reentrant=True)
        return self.fc(out.mean((2, 3)))
model = ResNet()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(10):
    loss = nn.functional.cross_entropy(model(torch.randn(4, 3, 8, 8)), torch.randint(0, 2, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "double softmax": (
        "softmax twice",
        "F.softmax(",
        """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(20, 50)
        self.fc2 = nn.Linear(50, 10)
    def forward(self, x):
        x = F.relu(self.fc1(x))
        return F.softmax(self.fc2(x), dim=1)
net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data = torch.randn(200, 20)
labels = torch.randint(0, 10, (200,))
for epoch in range(20):
    optimizer.zero_grad()
    outputs = net(data)
    loss = criterion(outputs, labels)
    loss.backward()
    optimizer.step()
    _, preds = torch.max(outputs, 1)
    print(epoch, loss.item(), (preds == labels).float().mean().item())
""",
    ),
    "gan second backward": (
        "freed",
        "errG.backward()",
        """
import torch
import torch.nn as nn
G = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
criterion = nn.BCELoss()
optG = torch.optim.Adam(G.parameters(), lr=2e-4)
optD = torch.optim.Adam(D.parameters(), lr=2e-4)
for step in range(5):
    real = torch.randn(16, 2)
    fake = G(torch.randn(16, 8))
    errD = criterion(D(real), torch.ones(16, 1)) + criterion(D(fake), torch.zeros(16, 1))
    optD.zero_grad()
    errD.backward()
    optD.step()
    errG = criterion(D(fake), torch.ones(16, 1))
    optG.zero_grad()
    errG.backward()
    optG.step()
""",
    ),
    "gan stepped first": (
        "in-place",
        "errG.backward()",
        """
import torch
import torch.nn as nn
G = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
criterion = nn.BCELoss()
optG = torch.optim.Adam(G.parameters(), lr=2e-4)
optD = torch.optim.Adam(D.parameters(), lr=2e-4)
for step in range(5):
    real = torch.randn(16, 2)
    fake = G(torch.randn(16, 8))
    errD = criterion(D(real), torch.ones(16, 1)) + criterion(D(fake.detach()), torch.zeros(16, 1))
    errG = criterion(D(fake), torch.ones(16, 1))
    optD.zero_grad()
    errD.backward()
    optD.step()
    optG.zero_grad()
    errG.backward()
    optG.step()
""",
    ),
    "param list not updated": (
        "unreached",
        None,
        """
import torch
import torch.nn as nn
class Pool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.mix = nn.Linear(dim, dim)
    def forward(self, x):
        score = self.score(x).squeeze(-1)
        perm = torch.topk(score, x.size(0) // 2).indices
        return self.mix(x[perm])
pool = Pool(8)
readout = nn.Linear(8, 2)
optimizer = torch.optim.Adam(list(pool.parameters()) + list(readout.parameters()), lr=0.01)
x = torch.randn(40, 8)
for i in range(20):
    optimizer.zero_grad()
    h = pool(x)
    loss = nn.functional.cross_entropy(readout(h.mean(0, keepdim=True)), torch.tensor([1]))
    loss.backward()
    optimizer.step()
""",
    ),
    "frozen all": (
        "",
        None,
        """
import torch
model = torch.nn.Sequential(torch.nn.Linear(10, 5), torch.nn.ReLU(), torch.nn.Linear(5, 1))
for param in model.parameters():
    param.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
    out = model(torch.randn(4, 10)).mean()
    optimizer.zero_grad()
    out.backward()
    optimizer.step()
""",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_that_failed_somebody_is_answered(name, capsys):
    from tests.torch_reference import torch

    torch.manual_seed(0)
    kind, line, source = SCRIPTS[name]
    said = run(torch, name, source, record_from=0, ask_at=None)
    named = [finding for finding in said if finding is not None and finding.kind.startswith(kind)]
    assert named, said
    assert line is None or named[0].fix and line in source.splitlines()[named[0].loc.line - 1], named[0]
