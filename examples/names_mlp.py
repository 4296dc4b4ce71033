"""Names, part 2: three letters, embedded, through a hidden layer with batch normalisation, say which comes next."""

import torch
import torch.nn.functional as F
from options import Losses, lines, parse
from texts import NAMES

given = parse(__doc__, steps=500, names=("", "a file of names; without one, 200 that come with the example"))
names = lines(given.names, NAMES)
letters = ["."] + sorted(set("".join(names)))
number = {letter: index for index, letter in enumerate(letters)}
CONTEXT, SIZE, HIDDEN = 3, 10, 64


def build(names):
    """Contexts of three letters, and the letter that follows each."""
    contexts, following = [], []
    for name in names:
        context = [0] * CONTEXT
        for letter in name + ".":
            contexts.append(context)
            following.append(number[letter])
            context = context[1:] + [number[letter]]
    return torch.tensor(contexts), torch.tensor(following)


order = torch.randperm(len(names)).tolist()
names = [names[i] for i in order]
Xtr, Ytr = build(names[: int(0.9 * len(names))])
Xte, Yte = build(names[int(0.9 * len(names)) :])

generator = torch.Generator().manual_seed(2147483647)
C = torch.randn((len(letters), SIZE), generator=generator)
W1 = torch.randn((CONTEXT * SIZE, HIDDEN), generator=generator) * (5 / 3) / (CONTEXT * SIZE) ** 0.5
W2 = torch.randn((HIDDEN, len(letters)), generator=generator) * 0.01
b2 = torch.zeros(len(letters))
gain, bias = torch.ones((1, HIDDEN)), torch.zeros((1, HIDDEN))
mean_running, std_running = torch.zeros((1, HIDDEN)), torch.ones((1, HIDDEN))
parameters = [C, W1, W2, b2, gain, bias]
for p in parameters:
    p.requires_grad = True

losses = Losses(given)
for step in range(given.steps):
    ix = torch.randint(0, Xtr.shape[0], (32,), generator=generator)
    Xb, Yb = Xtr[ix], Ytr[ix]
    embedded = C[Xb]
    before = embedded.view(embedded.shape[0], -1) @ W1
    mean, std = before.mean(0, keepdim=True), before.std(0, keepdim=True)
    hidden = torch.tanh(gain * (before - mean) / std + bias)
    loss = F.cross_entropy(hidden @ W2 + b2, Yb)
    with torch.no_grad():
        mean_running = 0.99 * mean_running + 0.01 * mean
        std_running = 0.99 * std_running + 0.01 * std

    for p in parameters:
        p.grad = None
    loss.backward()
    rate = 0.1 if step < given.steps * 2 // 3 else 0.01
    for p in parameters:
        p.data += -rate * p.grad
    losses.add(loss)


@torch.no_grad()
def scores(X):
    """Scores of the next letter, with the running mean and deviation."""
    before = C[X].view(len(X), -1) @ W1
    return torch.tanh(gain * (before - mean_running) / std_running + bias) @ W2 + b2


print(f"held out: {F.cross_entropy(scores(Xte), Yte).item():.4f}")
for _ in range(5):
    context, name = [0] * CONTEXT, ""
    while len(name) < 20:
        probabilities = F.softmax(scores(torch.tensor([context])), dim=1)
        letter = torch.multinomial(probabilities, num_samples=1, generator=generator).item()
        if letter == 0:
            break
        context, name = context[1:] + [letter], name + letters[letter]
    print(name)
losses.write()
