"""Losses, filters and cosine transforms of sound with their gradients; weights that are distributions, trained."""

import auraloss
import julius
import torch
import torch_dct
import torchbnn
from asteroid_filterbanks import make_enc_dec
from blitz.modules import BayesianLinear, BayesianLSTM
from blitz.utils import variational_estimator
from shown import show, train

torch.manual_seed(0)
heard, meant = torch.randn(2, 1, 4096, requires_grad=True), torch.randn(2, 1, 4096)
LOSSES = {
    "stft": auraloss.freq.STFTLoss(), "esr": auraloss.time.ESRLoss(), "dc": auraloss.time.DCLoss(),
    "logcosh": auraloss.time.LogCoshLoss(), "snr": auraloss.time.SNRLoss(), "sisdr": auraloss.time.SISDRLoss(),
}  # fmt: skip
for name, loss_of in LOSSES.items():
    loss = loss_of(heard, meant)
    show(name, [loss.item(), torch.autograd.grad(loss, heard)[0].norm().item()])
FILTERS = {
    "resampled": julius.ResampleFrac(4, 3), "low": julius.LowPassFilters([0.1, 0.2]),
    "bands": julius.SplitBands(16000, 4), "high": julius.HighPassFilter(0.1), "band": julius.BandPassFilter(0.1, 0.3),
}  # fmt: skip
for name, filtered in FILTERS.items():
    show(name, filtered(heard)[..., :12])
for name in ("dct", "idct", "dct1", "idct1", "dct_2d", "idct_2d", "dct_3d"):
    show(name, getattr(torch_dct, name)(meant.reshape(8, 32, 32))[0, 0])
for bank in ("stft", "free", "param_sinc", "analytic_free"):
    torch.manual_seed(0)
    encode, decode = make_enc_dec(bank, n_filters=32, kernel_size=16)
    show(bank, decode(encode(meant))[..., 100:112])

features, classes = torch.randn(6, 4), torch.randint(0, 3, (6,))
divergence = torchbnn.BKLLoss(reduction="mean", last_layer_only=False)
network = torch.nn.Sequential(torchbnn.BayesLinear(0, 0.1, 4, 8), torch.nn.ReLU(), torchbnn.BayesLinear(0, 0.1, 8, 3))
show("torchbnn", train(
    network, lambda model: torch.nn.functional.cross_entropy(model(features), classes) + 0.1 * divergence(model)
))  # fmt: skip


@variational_estimator
class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = BayesianLSTM(3, 5), BayesianLinear(5, 1)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


series, targets = torch.randn(4, 6, 3), torch.randn(4, 1)
show("blitz", train(Recurrent(), lambda model: model.sample_elbo(
    inputs=series, labels=targets, criterion=torch.nn.MSELoss(), sample_nbr=2, complexity_cost_weight=0.01
)))  # fmt: skip
