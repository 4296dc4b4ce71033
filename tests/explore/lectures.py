"""The five graphs that a lecture shows, with either engine: what a first call of ``explore`` is judged by."""

import math


def two_layers(torch):
    """A net of two linear layers with a ReLU between them, and its output."""
    nn = torch.nn

    class SimpleNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear1 = nn.Linear(2, 3)
            self.relu = nn.ReLU()
            self.linear2 = nn.Linear(3, 1)

        def forward(self, x):
            return self.linear2(self.relu(self.linear1(x)))

    model = SimpleNN()
    x = torch.tensor([[0.5, 0.3]], requires_grad=True)
    output = model(x)
    return output, model, {"x": x, "output": output}


def expression(torch):
    """``L = x3 * x4 + sin(x3)``: numbers, a value that is used twice, a constant."""
    w1 = torch.tensor(2.0, requires_grad=True)
    w2 = torch.tensor(3.0, requires_grad=True)
    b = torch.tensor(1.0)
    x3 = w1 * w2
    x4 = torch.sin(x3) if x3 > 0 else torch.cos(x3)
    L = x3 * x4 + w2 * b
    return L, None, {"w1": w1, "w2": w2, "b": b, "x3": x3, "x4": x4, "L": L}


def resnet(torch):
    """A small ResNet: a stem, two stages of residual blocks, a head; and the loss."""
    nn, functional = torch.nn, torch.nn.functional

    class BasicBlock(nn.Module):
        def __init__(self, inputs, outputs, stride=1):
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.relu = nn.ReLU()
            self.downsample = None
            if stride != 1:
                self.downsample = nn.Sequential(
                    nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
                )

        def forward(self, x):
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            skip = x if self.downsample is None else self.downsample(x)
            return self.relu(out + skip)

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 8, 3, 1, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(8)
            self.relu = nn.ReLU()
            self.layer1 = nn.Sequential(BasicBlock(8, 8), BasicBlock(8, 8))
            self.layer2 = nn.Sequential(BasicBlock(8, 16, 2), BasicBlock(16, 16))
            self.avgpool = nn.AdaptiveAvgPool2d(1)
            self.fc = nn.Linear(16, 10)

        def forward(self, x):
            x = self.relu(self.bn1(self.conv1(x)))
            x = self.layer2(self.layer1(x))
            return self.fc(torch.flatten(self.avgpool(x), 1))

    model = ResNet()
    images, target = torch.ones(2, 3, 8, 8), torch.tensor([1, 2])
    loss = functional.cross_entropy(model(images), target)
    return loss, model, {"images": images, "target": target, "loss": loss}


def lstm(torch):
    """An LSTM cell over five steps, and a linear layer on the last state."""
    nn = torch.nn

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.LSTMCell(4, 8)
            self.head = nn.Linear(8, 1)

        def forward(self, words):
            h, c = torch.zeros(2, 8), torch.zeros(2, 8)
            for word in words:
                h, c = self.cell(word, (h, c))
            return self.head(h)

    model = Reader()
    words, target = torch.ones(5, 2, 4), torch.ones(2, 1)
    loss = nn.functional.mse_loss(model(words), target)
    return loss, model, {"words": words, "target": target, "loss": loss}


def transformer(torch):
    """A transformer encoder of two blocks, written out: attention, a feedforward part, residuals."""
    nn, functional = torch.nn, torch.nn.functional

    class Attention(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
            self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
            self.width = width

        def forward(self, x):
            q, k, v = self.query(x), self.key(x), self.value(x)
            scores = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.width), -1)
            return self.out(scores @ v)

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.norm1, self.attention = nn.LayerNorm(width), Attention(width)
            self.norm2 = nn.LayerNorm(width)
            self.feedforward = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.feedforward(self.norm2(x))

    class Encoder(nn.Module):
        def __init__(self, width=8):
            super().__init__()
            self.embedding = nn.Embedding(20, width)
            self.blocks = nn.ModuleList([Block(width), Block(width)])
            self.head = nn.Linear(width, 20)

        def forward(self, tokens):
            x = self.embedding(tokens)
            for block in self.blocks:
                x = block(x)
            return self.head(x)

    model = Encoder()
    tokens, target = torch.tensor([[1, 2, 3, 4]]), torch.tensor([2, 3, 4, 5])
    loss = functional.cross_entropy(model(tokens)[0], target)
    return loss, model, {"tokens": tokens, "target": target, "loss": loss}


LECTURES = {
    "two-layers": two_layers,
    "expression": expression,
    "resnet": resnet,
    "lstm": lstm,
    "transformer": transformer,
}


def draw(folder, torch):
    """Write the still pictures of the five graphs, as the documentation shows them; gives their texts by file."""
    from pathlib import Path

    from glassgrad.explore import explore

    pictures = {}
    for name, make in LECTURES.items():
        torch.manual_seed(8)  # of three outputs of the ReLU, one is zero
        loss, model, names = make(torch)
        pictures[f"lecture-{name}.svg"] = explore(loss, model=model, names=names)._repr_svg_()
    for file, text in pictures.items():
        if folder is not None:
            Path(folder, file).write_text(text, encoding="utf-8")
    return pictures


if __name__ == "__main__":
    import sys

    import glassgrad

    draw(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures", glassgrad)
