"""A variational autoencoder of handwritten digits: a scan becomes a distribution, a drawing is a sample of it."""

import torch
from options import Losses, parse
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader


class VAE(nn.Module):
    """Encoder to mean and log variance of four numbers; decoder back to 64 pixels."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 48)
        self.fc21 = nn.Linear(48, 4)
        self.fc22 = nn.Linear(48, 4)
        self.fc3 = nn.Linear(4, 48)
        self.fc4 = nn.Linear(48, 64)

    def encode(self, x):
        """Mean and log variance."""
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        """A sample through which gradients flow."""
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        """Pixels from 0 to 1."""
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        """The pixels again, and the distribution they were drawn from."""
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(again, x, mu, logvar):
    """How badly the pixels came back, and how far the distribution is from the standard normal one; per scan."""
    bce = F.binary_cross_entropy(again, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (bce + kld) / len(x)


given = parse(__doc__, steps=600)
pixels = torch.as_tensor(load_digits().data / 16, dtype=torch.get_default_dtype())
loader = DataLoader(pixels, batch_size=128, shuffle=True)
model = VAE()
optimizer = optim.Adam(model.parameters(), lr=3e-3)

losses = Losses(given)
model.train()
while len(losses.values) < given.steps:
    for x in loader:
        optimizer.zero_grad()
        again, mu, logvar = model(x)
        loss = loss_function(again, x, mu, logvar)
        loss.backward()
        optimizer.step()
        losses.add(loss)
        if len(losses.values) == given.steps:
            break

with torch.no_grad():
    drawn = model.decode(torch.randn(4, 4)).view(4, 8, 8)
for row in range(8):
    print("   ".join("".join(" .:-=+*#%@"[int(9 * value)] for value in image[row].tolist()) for image in drawn))
losses.write()
