"""An LSTM language model spells names: packed sequences of different lengths, one letter after the other."""

import torch
from options import Losses, lines, parse
from texts import NAMES
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

given = parse(__doc__, steps=400, names=("", "a file of names; without one, 200 that come with the example"))
names = lines(given.names, NAMES)
letters = ["."] + sorted(set("".join(names)))  # the dot ends a name, and stands before it
number = {letter: index for index, letter in enumerate(letters)}


class Names(Dataset):
    """Names as tensors of letters."""

    def __len__(self):
        return len(names)

    def __getitem__(self, index):
        codes = [number[letter] for letter in names[index]]
        return torch.tensor([0] + codes), torch.tensor(codes + [0])


def collate(batch):
    """A batch of names of different lengths, the longest first, padded; targets of padding are -1."""
    inputs, targets = zip(*sorted(batch, key=lambda pair: -len(pair[0])))
    lengths = torch.tensor([len(name) for name in inputs])
    return (
        pad_sequence(inputs, batch_first=True),
        pad_sequence(targets, batch_first=True, padding_value=-1),
        lengths,
    )


class Speller(nn.Module):
    """Embedding, two layers of LSTM, scores."""

    def __init__(self, size=24, hidden=64):
        super().__init__()
        self.embedding = nn.Embedding(len(letters), size)
        self.lstm = nn.LSTM(size, hidden, num_layers=2, batch_first=True, dropout=0.1)
        self.scores = nn.Linear(hidden, len(letters))

    def forward(self, x, lengths):
        """Scores of the next letter at each place."""
        packed = pack_padded_sequence(self.embedding(x), lengths, batch_first=True)
        hidden, _ = self.lstm(packed)
        hidden, _ = pad_packed_sequence(hidden, batch_first=True)
        return self.scores(hidden)

    @torch.no_grad()
    def spell(self):
        """A name, drawn letter by letter."""
        letter, state, found = torch.zeros(1, 1, dtype=torch.long), None, ""
        while len(found) < 20:
            hidden, state = self.lstm(self.embedding(letter), state)
            letter = torch.multinomial(torch.softmax(self.scores(hidden[:, -1]), dim=-1), 1)
            if letter.item() == 0:
                break
            found += letters[letter.item()]
        return found


model = Speller()
loader = DataLoader(Names(), batch_size=32, shuffle=True, collate_fn=collate)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss(ignore_index=-1)

losses = Losses(given)
model.train()
while len(losses.values) < given.steps:
    for x, y, lengths in loader:
        loss = criterion(model(x, lengths).transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
        losses.add(loss)
        if len(losses.values) == given.steps:
            break

model.eval()
print("new names:", ", ".join(model.spell() for _ in range(8)))
losses.write()
