"""Programs that train as they should: pictures, generators, and what learns by trying."""

RESNET = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class BasicBlock(nn.Module):
    def __init__(self, in_planes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_planes, planes, 1, stride=stride, bias=False), nn.BatchNorm2d(planes)
            )
        nn.init.zeros_(self.bn2.weight)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)), inplace=True)
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.layer1 = nn.Sequential(BasicBlock(8, 8), BasicBlock(8, 8))
        self.layer2 = nn.Sequential(BasicBlock(8, 16, 2), BasicBlock(16, 16))
        self.linear = nn.Linear(16, num_classes)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layer2(self.layer1(out))
        out = F.adaptive_avg_pool2d(out, 1).flatten(1)
        return self.linear(out)


trainset = TensorDataset(torch.randn(80, 3, 8, 8), torch.randint(0, 10, (80,)))
trainloader = DataLoader(trainset, batch_size=16, shuffle=True)
testloader = DataLoader(trainset, batch_size=40, shuffle=False)
net = ResNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)
best_acc = 0


def train(epoch):
    net.train()
    train_loss, correct, total = 0, 0, 0
    for batch_idx, (inputs, targets) in enumerate(trainloader):
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
        _, predicted = outputs.max(1)
        total += targets.size(0)
        correct += predicted.eq(targets).sum().item()


def test(epoch):
    global best_acc
    net.eval()
    correct = 0
    with torch.no_grad():
        for inputs, targets in testloader:
            outputs = net(inputs)
            correct += outputs.max(1)[1].eq(targets).sum().item()
    best_acc = max(best_acc, correct / len(trainset))


for epoch in range(3):
    train(epoch)
    test(epoch)
    scheduler.step()
"""

DCGAN = """
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(999)
nz, ngf, ndf, nc = 8, 4, 4, 1


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


netG = nn.Sequential(
    nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False), nn.BatchNorm2d(ngf * 2), nn.ReLU(True),
    nn.ConvTranspose2d(ngf * 2, nc, 4, 2, 1, bias=False), nn.Tanh(),
)
netG.apply(weights_init)
netD = nn.Sequential(
    nn.Conv2d(nc, ndf, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(ndf, 1, 4, 1, 0, bias=False), nn.Sigmoid(),
)
netD.apply(weights_init)
criterion = nn.BCELoss()
fixed_noise = torch.randn(16, nz, 1, 1)
real_label, fake_label = 1.0, 0.0
optimizerD = optim.Adam(netD.parameters(), lr=0.0002, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=0.0002, betas=(0.5, 0.999))
G_losses, D_losses = [], []
for i in range(10):
    netD.zero_grad()
    real = torch.randn(16, nc, 8, 8)
    label = torch.full((16,), real_label, dtype=torch.float)
    output = netD(real).view(-1)
    errD_real = criterion(output, label)
    errD_real.backward()
    noise = torch.randn(16, nz, 1, 1)
    fake = netG(noise)
    label.fill_(fake_label)
    output = netD(fake.detach()).view(-1)
    errD_fake = criterion(output, label)
    errD_fake.backward()
    errD = errD_real + errD_fake
    optimizerD.step()
    netG.zero_grad()
    label.fill_(real_label)
    output = netD(fake).view(-1)
    errG = criterion(output, label)
    errG.backward()
    optimizerG.step()
    G_losses.append(errG.item())
    D_losses.append(errD.item())
with torch.no_grad():
    fake = netG(fixed_noise).detach()
"""

VAE = """
import torch
from torch import nn, optim
from torch.nn import functional as F

torch.manual_seed(1)


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(64, 40)
        self.fc21 = nn.Linear(40, 5)
        self.fc22 = nn.Linear(40, 5)
        self.fc3 = nn.Linear(5, 40)
        self.fc4 = nn.Linear(40, 64)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 64))
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 64), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


model = VAE()
optimizer = optim.Adam(model.parameters(), lr=1e-3)
train_loss = 0
for batch_idx in range(14):
    data = torch.rand(16, 1, 8, 8)
    optimizer.zero_grad()
    recon_batch, mu, logvar = model(data)
    loss = loss_function(recon_batch, data, mu, logvar)
    loss.backward()
    train_loss += loss.item()
    optimizer.step()
"""

WGAN = """
import torch
from torch import nn, optim

torch.manual_seed(0)
netG = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
netD = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
optimizerD = optim.RMSprop(netD.parameters(), lr=5e-5)
optimizerG = optim.RMSprop(netG.parameters(), lr=5e-5)
one = torch.FloatTensor([1])
mone = one * -1
for gen_iterations in range(5):
    for p in netD.parameters():
        p.requires_grad = True
    for j in range(5):
        for p in netD.parameters():
            p.data.clamp_(-0.01, 0.01)
        netD.zero_grad()
        errD_real = netD(torch.randn(32, 2) + 2).mean(0).view(1)
        errD_real.backward(one)
        with torch.no_grad():
            noisev = torch.randn(32, 4)
            fake = netG(noisev).data
        errD_fake = netD(fake).mean(0).view(1)
        errD_fake.backward(mone)
        optimizerD.step()
    for p in netD.parameters():
        p.requires_grad = False
    netG.zero_grad()
    errG = netD(netG(torch.randn(32, 4))).mean(0).view(1)
    errG.backward(one)
    optimizerG.step()
"""

REINFORCE = """
from itertools import count
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

torch.manual_seed(543)


class Env:
    def reset(self):
        self.state, self.t = torch.randn(4), 0
        return self.state

    def step(self, action):
        self.t += 1
        self.state = 0.9 * self.state + 0.1 * torch.randn(4) + 0.1 * (2 * action - 1)
        return self.state, 1.0 if self.state.abs().max() < 2 else 0.0, self.t >= 8


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 32)
        self.dropout = nn.Dropout(p=0.6)
        self.affine2 = nn.Linear(32, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.affine2(x), dim=1)


env = Env()
policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
eps = 1e-8


def select_action(state):
    probs = policy(state.unsqueeze(0))
    m = Categorical(probs)
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode():
    R = 0
    policy_loss = []
    returns = []
    for r in policy.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]


for i_episode in range(14):
    state = env.reset()
    for t in count(1):
        state, reward, done = env.step(select_action(state))
        policy.rewards.append(reward)
        if done:
            break
    finish_episode()
"""

MAML = """
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.vars = nn.ParameterList()
        for out, into in ((20, 1), (20, 20), (1, 20)):
            w = nn.Parameter(torch.ones(out, into))
            torch.nn.init.kaiming_normal_(w)
            self.vars.append(w)
            self.vars.append(nn.Parameter(torch.zeros(out)))

    def forward(self, x, vars=None):
        vars = self.vars if vars is None else vars
        x = F.relu(F.linear(x, vars[0], vars[1]))
        x = F.relu(F.linear(x, vars[2], vars[3]))
        return F.linear(x, vars[4], vars[5])


net = Learner()
meta_optim = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(14):
    losses_q = 0
    for task in range(3):
        phase = torch.rand(1) * 3
        x_spt, x_qry = torch.rand(10, 1) * 6, torch.rand(10, 1) * 6
        y_spt, y_qry = torch.sin(x_spt + phase), torch.sin(x_qry + phase)
        fast_weights = list(net.parameters())
        for k in range(2):
            loss = F.mse_loss(net(x_spt, fast_weights), y_spt)
            grad = torch.autograd.grad(loss, fast_weights, create_graph=True)
            fast_weights = list(map(lambda p: p[1] - 0.01 * p[0], zip(grad, fast_weights)))
        losses_q = losses_q + F.mse_loss(net(x_qry, fast_weights), y_qry)
    meta_optim.zero_grad()
    (losses_q / 3).backward()
    meta_optim.step()
"""

DQN = """
import random
from collections import deque
import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)
policy_net = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
target_net = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
target_net.load_state_dict(policy_net.state_dict())
target_net.eval()
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-3, amsgrad=True)
memory = deque(maxlen=200)
TAU = 0.005
state = torch.randn(1, 4)
for t in range(60):
    with torch.no_grad():
        action = policy_net(state).max(1).indices.view(1, 1)
    following, reward = torch.randn(1, 4), torch.tensor([random.random()])
    memory.append((state, action, following, reward))
    state = following
    if len(memory) < 32:
        continue
    batch = list(zip(*random.sample(memory, 32)))
    states, actions, followings, rewards = map(torch.cat, batch)
    state_action_values = policy_net(states).gather(1, actions)
    with torch.no_grad():
        next_state_values = target_net(followings).max(1).values
    expected = (next_state_values * 0.99) + rewards
    loss = nn.SmoothL1Loss()(state_action_values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    target_state, policy_state = target_net.state_dict(), policy_net.state_dict()
    for key in policy_state:
        target_state[key] = policy_state[key] * TAU + target_state[key] * (1 - TAU)
    target_net.load_state_dict(target_state)
"""

FINE_TUNING = """
import torch
from torch import nn, optim

torch.manual_seed(0)
model_conv = nn.Sequential()
model_conv.features = nn.Sequential(
    nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
)
model_conv.fc = nn.Linear(8, 100)


class Net(nn.Module):
    def __init__(self, pretrained):
        super().__init__()
        self.features, self.fc = pretrained.features, pretrained.fc

    def forward(self, x):
        return self.fc(self.features(x))


model_conv = Net(model_conv)
for param in model_conv.parameters():
    param.requires_grad = False
num_ftrs = model_conv.fc.in_features
model_conv.fc = nn.Linear(num_ftrs, 2)
criterion = nn.CrossEntropyLoss()
optimizer_conv = optim.SGD(model_conv.fc.parameters(), lr=0.001, momentum=0.9)
exp_lr_scheduler = optim.lr_scheduler.StepLR(optimizer_conv, step_size=7, gamma=0.1)
for epoch in range(4):
    for phase in ["train", "val"]:
        if phase == "train":
            model_conv.train()
        else:
            model_conv.eval()
        for _ in range(4):
            inputs, labels = torch.randn(8, 3, 8, 8), torch.randint(0, 2, (8,))
            optimizer_conv.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                outputs = model_conv(inputs)
                _, preds = torch.max(outputs, 1)
                loss = criterion(outputs, labels)
                if phase == "train":
                    loss.backward()
                    optimizer_conv.step()
        if phase == "train":
            exp_lr_scheduler.step()
"""

SIAMESE = """
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
momentum_encoder = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
for q, k in zip(encoder.parameters(), momentum_encoder.parameters()):
    k.data.copy_(q.data)
    k.requires_grad = False
queue = F.normalize(torch.randn(8, 64), dim=0)
optimizer = torch.optim.SGD(encoder.parameters(), 0.03, momentum=0.9, weight_decay=1e-4)
for step in range(14):
    x = torch.randn(16, 12)
    q = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=1)
    with torch.no_grad():
        for a, b in zip(encoder.parameters(), momentum_encoder.parameters()):
            b.data = b.data * 0.99 + a.data * 0.01
        k = F.normalize(momentum_encoder(x), dim=1)
    l_pos = torch.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
    l_neg = torch.einsum("nc,ck->nk", [q, queue.clone().detach()])
    logits = torch.cat([l_pos, l_neg], dim=1) / 0.07
    labels = torch.zeros(logits.shape[0], dtype=torch.long)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    queue = torch.cat([k.T, queue], dim=1)[:, :64]
"""

PROGRAMS = {name: source for name, source in list(globals().items()) if name.isupper()}
