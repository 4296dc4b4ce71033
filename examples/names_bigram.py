"""Names, part 1: a table of 27 x 27 numbers says which letter follows which; counted, then learnt by gradients."""

import torch
import torch.nn.functional as F
from options import Losses, lines, parse
from texts import NAMES

given = parse(__doc__, steps=100, names=("", "a file of names; without one, 200 that come with the example"))
names = lines(given.names, NAMES)
letters = ["."] + sorted(set("".join(names)))
number = {letter: index for index, letter in enumerate(letters)}
pairs = [(number[a], number[b]) for name in names for a, b in zip("." + name, name + ".")]
xs, ys = torch.tensor([a for a, _ in pairs]), torch.tensor([b for _, b in pairs])

# Counting is the answer that learning should find.
counts = torch.zeros((len(letters), len(letters)), dtype=torch.int32)
for a, b in pairs[:20000]:
    counts[a, b] += 1
chances = (counts + 1).to(torch.get_default_dtype())
chances /= chances.sum(1, keepdim=True)
counted = -chances[xs, ys].log().mean()

generator = torch.Generator().manual_seed(2147483647)
W = torch.randn((len(letters), len(letters)), generator=generator, requires_grad=True)
losses = Losses(given)
for _ in range(given.steps):
    encoded = F.one_hot(xs, num_classes=len(letters)).to(W.dtype)
    exponentials = (encoded @ W).exp()
    probabilities = exponentials / exponentials.sum(1, keepdim=True)
    loss = -probabilities[torch.arange(len(xs)), ys].log().mean() + 0.01 * (W**2).mean()
    W.grad = None
    loss.backward()
    W.data += -50 * W.grad
    losses.add(loss)

print(f"counted: {counted.item():.4f}   learnt: {losses.values[-1]:.4f}")
for _ in range(5):
    letter, name = 0, ""
    while True:
        p = F.softmax(W[letter], dim=0)
        letter = torch.multinomial(p, num_samples=1, replacement=True, generator=generator).item()
        if letter == 0 or len(name) == 20:
            break
        name += letters[letter]
    print(name)
losses.write()
