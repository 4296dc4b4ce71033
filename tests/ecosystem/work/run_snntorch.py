"""snntorch: spiking neurons with surrogate gradients, trained over time."""

import snntorch as snn
import torch
from shown import show, train
from snntorch import functional as SF
from snntorch import spikegen, surrogate
from torch import nn


class Net(nn.Module):
    """Two layers of leaky neurons that are asked for twelve steps."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 3)
        self.leaky = snn.Leaky(0.9, spike_grad=surrogate.fast_sigmoid())
        self.synaptic = snn.Synaptic(alpha=0.8, beta=0.9, learn_beta=True, spike_grad=surrogate.atan())

    def forward(self, x):
        membrane, (current, second) = self.leaky.init_leaky(), self.synaptic.init_synaptic()
        spikes = []
        for step in range(12):
            spike, membrane = self.leaky(self.first(x[step]), membrane)
            spike, current, second = self.synaptic(self.second(spike), current, second)
            spikes.append(spike)
        return torch.stack(spikes)


torch.manual_seed(0)
data, labels = torch.rand(5, 8), torch.arange(5) % 3
spikes = spikegen.rate(data, num_steps=12)
show("rate", spikes.sum(0))
show("latency", spikegen.latency(data, num_steps=12, tau=5, threshold=0.01).sum((1, 2)))
net = Net()
loss = SF.ce_rate_loss()
show("trained", train(net, lambda m: loss(m(spikes), labels), steps=4, lr=0.01))
show("accuracy", SF.accuracy_rate(net(spikes), labels))
show("counts", SF.ce_count_loss()(net(spikes), labels))
