"""Short training runs as scripts write them: networks, losses, optimizers, schedules, data and checkpoints together."""

import copy
import io


def _losses(torch, model, batches, criterion, optimizer, after=None):
    found = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if after is not None:
            after(loss)
        found.append(loss.detach())
    return torch.stack(found)


def adversarial(torch, show):
    """A generator and a discriminator of convolutions train against each other."""
    nn = torch.nn
    torch.manual_seed(0)

    def weights(m):
        name = m.__class__.__name__
        if name.find("Conv") != -1:
            nn.init.normal_(m.weight.data, 0.0, 0.02)
        elif name.find("BatchNorm") != -1:
            nn.init.normal_(m.weight.data, 1.0, 0.02)
            nn.init.constant_(m.bias.data, 0)

    generator = nn.Sequential(
        nn.ConvTranspose2d(8, 16, 4, 1, 0, bias=False), nn.BatchNorm2d(16), nn.ReLU(True),
        nn.ConvTranspose2d(16, 1, 4, 2, 1, bias=False), nn.Tanh(),
    )  # fmt: skip
    critic = nn.Sequential(
        nn.Conv2d(1, 8, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(8, 16, 2, 2, 0, bias=False),
        nn.BatchNorm2d(16), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(16, 1, 2, 1, 0, bias=False), nn.Sigmoid(),
    )  # fmt: skip
    generator.apply(weights)
    critic.apply(weights)
    generator.double()
    critic.double()
    criterion = nn.BCELoss()
    by_critic = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.999))
    by_generator = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    for step in range(4):
        real = torch.rand(6, 1, 8, 8, dtype=torch.float64) * 2 - 1
        critic.zero_grad()
        label = torch.full((6,), 1.0, dtype=real.dtype)
        error_real = criterion(critic(real).view(-1), label)
        error_real.backward()
        fake = generator(torch.randn(6, 8, 1, 1, dtype=torch.float64))
        label.fill_(0.0)
        error_fake = criterion(critic(fake.detach()).view(-1), label)
        error_fake.backward()
        by_critic.step()
        generator.zero_grad()
        label.fill_(1.0)
        error = criterion(critic(fake).view(-1), label)
        error.backward()
        by_generator.step()
        show(f"step {step}", [error_real, error_fake, error, fake.mean()])
    show("running mean", generator[1].running_mean)


def sequence_to_sequence(torch, show):
    """An encoder of GRUs and a decoder with attention, with teacher forcing and padding."""
    nn, F = torch.nn, torch.nn.functional
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(12, 8, padding_idx=0)
            self.gru = nn.GRU(8, 8, bidirectional=True, batch_first=True)
            self.join = nn.Linear(16, 8)

        def forward(self, x, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(self.embedding(x), lengths, batch_first=True)
            outputs, hidden = self.gru(packed)
            outputs, _ = nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
            return outputs, torch.tanh(self.join(torch.cat((hidden[-2], hidden[-1]), dim=1)))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(12, 8, padding_idx=0)
            self.attention = nn.Linear(16 + 8, 8)
            self.v = nn.Linear(8, 1, bias=False)
            self.cell = nn.GRUCell(8 + 16, 8)
            self.out = nn.Linear(8, 12)

        def forward(self, token, hidden, outputs, mask):
            repeated = hidden.unsqueeze(1).repeat(1, outputs.size(1), 1)
            energy = self.v(torch.tanh(self.attention(torch.cat((repeated, outputs), dim=2)))).squeeze(2)
            chances = F.softmax(energy.masked_fill(mask == 0, -1e10), dim=1)
            context = torch.bmm(chances.unsqueeze(1), outputs).squeeze(1)
            hidden = self.cell(torch.cat((self.embedding(token), context), dim=1), hidden)
            return self.out(hidden), hidden, chances

    encoder, decoder = Encoder(), Decoder()
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimizer = torch.optim.RMSprop(parameters, lr=0.01, momentum=0.5)
    source = torch.tensor([[3, 4, 5, 6], [7, 8, 2, 0], [9, 2, 0, 0]])
    target = torch.tensor([[1, 6, 5, 4, 3], [1, 2, 8, 7, 0], [1, 2, 9, 0, 0]])
    for step in range(3):
        outputs, hidden = encoder(source, torch.tensor([4, 3, 2]))
        token, loss = target[:, 0], 0
        for place in range(1, target.size(1)):
            scores, hidden, chances = decoder(token, hidden, outputs, source != 0)
            loss = loss + F.cross_entropy(scores, target[:, place], ignore_index=0)
            token = target[:, place] if place % 2 else scores.argmax(1)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        show(f"step {step}", [loss, norm, chances])
    torch.set_default_dtype(torch.float32)


def sine_waves_with_lbfgs(torch, show):
    """Two LSTM cells continue sine waves; LBFGS calls its closure."""
    nn = torch.nn
    torch.manual_seed(2)

    class Sequence(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm1 = nn.LSTMCell(1, 6)
            self.lstm2 = nn.LSTMCell(6, 6)
            self.linear = nn.Linear(6, 1)

        def forward(self, input, future=0):
            outputs = []
            h_t = c_t = h_t2 = c_t2 = torch.zeros(input.size(0), 6, dtype=torch.double)
            for input_t in input.split(1, dim=1):
                h_t, c_t = self.lstm1(input_t, (h_t, c_t))
                h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
                output = self.linear(h_t2)
                outputs += [output]
            for _ in range(future):
                h_t, c_t = self.lstm1(output, (h_t, c_t))
                h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
                output = self.linear(h_t2)
                outputs += [output]
            return torch.cat(outputs, dim=1)

    data = torch.sin(torch.arange(12.0).double() / 3 + torch.arange(4.0).double().unsqueeze(1))
    seq = Sequence().double()
    criterion = nn.MSELoss()
    optimizer = torch.optim.LBFGS(seq.parameters(), lr=0.5, max_iter=4)
    for step in range(2):

        def closure():
            optimizer.zero_grad()
            loss = criterion(seq(data[:, :-1]), data[:, 1:])
            loss.backward()
            return loss

        show(f"step {step}", optimizer.step(closure))
    with torch.no_grad():
        show("future", seq(data[:, :5], future=3))


def upscaling(torch, show):
    """Convolutions and PixelShuffle enlarge pictures; the rate falls on a plateau."""
    nn = torch.nn
    torch.manual_seed(3)
    model = nn.Sequential(
        nn.Conv2d(1, 8, (5, 5), (1, 1), (2, 2)), nn.ReLU(), nn.Conv2d(8, 4, (3, 3), padding="same"), nn.PixelShuffle(2)
    ).double()
    for layer in model:
        if isinstance(layer, nn.Conv2d):
            nn.init.orthogonal_(layer.weight, nn.init.calculate_gain("relu"))
    large = torch.rand(3, 1, 8, 8, dtype=torch.float64)
    small = nn.functional.interpolate(large, scale_factor=0.5, mode="bilinear", align_corners=False)
    optimizer = torch.optim.Adamax(model.parameters(), lr=0.02)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5, threshold=0.1)
    losses = _losses(
        torch, model, [(small, large)] * 6, nn.MSELoss(), optimizer, lambda loss: scheduler.step(loss.item())
    )
    show("losses", losses)
    show("rate", optimizer.param_groups[0]["lr"])
    show("psnr", 10 * torch.log10(1 / losses))


def resumed_from_a_checkpoint(torch, show):
    """Training stops, is saved, loaded into new objects, and goes on as if it had not stopped."""
    nn = torch.nn

    def fresh():
        torch.manual_seed(4)
        model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.GELU(), nn.Dropout(0.25), nn.Linear(8, 3)).double()
        optimizer = torch.optim.NAdam(model.parameters(), lr=0.01)
        return model, optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)

    model, optimizer, scheduler = fresh()
    batches = [(torch.randn(6, 5, dtype=torch.float64), torch.randint(3, (6,))) for _ in range(8)]
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    first = _losses(torch, model, batches[:4], criterion, optimizer, lambda _: scheduler.step())
    file = io.BytesIO()
    torch.save(
        {
            "model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(),
            "random": torch.get_rng_state(), "epoch": 4,
        },
        file,
    )  # fmt: skip
    on = _losses(torch, model, batches[4:], criterion, optimizer, lambda _: scheduler.step())
    file.seek(0)
    kept = torch.load(file)
    model, optimizer, scheduler = fresh()
    show("keys", model.load_state_dict(kept["model"]))
    optimizer.load_state_dict(kept["optimizer"])
    scheduler.load_state_dict(kept["scheduler"])
    torch.set_rng_state(kept["random"])
    again = _losses(torch, model, batches[4:], criterion, optimizer, lambda _: scheduler.step())
    show("losses", [first, on])
    show("as if it had not stopped", torch.equal(on, again))
    show("state", optimizer.state_dict())


def averaged_weights(torch, show):
    """Stochastic weight averaging with its own schedule, and batch norm brought up to date."""
    nn, swa = torch.nn, torch.optim.swa_utils
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Softplus(), nn.Linear(6, 1)).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3)
    averaged = swa.AveragedModel(model)
    ema = swa.AveragedModel(model, multi_avg_fn=swa.get_ema_multi_avg_fn(0.9))
    scheduler = swa.SWALR(optimizer, swa_lr=0.05, anneal_epochs=3)
    data = [(torch.randn(8, 4, dtype=torch.float64), torch.randn(8, 1, dtype=torch.float64)) for _ in range(5)]

    def after(_):
        averaged.update_parameters(model)
        ema.update_parameters(model)
        scheduler.step()

    show("losses", _losses(torch, model, data, nn.SmoothL1Loss(beta=0.5), optimizer, after))
    swa.update_bn(data, averaged)
    show("averaged", dict(averaged.state_dict()))
    show("ema", [p for p in ema.parameters()])


def transformer_language_model(torch, show):
    """A transformer encoder with positions and a causal mask predicts tokens; AdamW warms up."""
    nn = torch.nn
    torch.manual_seed(6)
    torch.set_default_dtype(torch.float64)
    embedding, out = nn.Embedding(11, 8), nn.Linear(8, 11)
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True, norm_first=True, activation="gelu")
    encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8), enable_nested_tensor=False)
    places = torch.zeros(7, 8)
    position = torch.arange(0, 7, dtype=torch.get_default_dtype()).unsqueeze(1)
    scale = torch.exp(torch.arange(0, 8, 2).double() * (-torch.log(torch.tensor(10000.0)) / 8))
    places[:, 0::2] = torch.sin(position * scale)
    places[:, 1::2] = torch.cos(position * scale)
    modules = nn.ModuleList([embedding, encoder, out])
    optimizer = torch.optim.AdamW(modules.parameters(), lr=0.01, amsgrad=True)
    warm = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=2)
    then = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8)
    schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, then], milestones=[2])
    mask = nn.Transformer.generate_square_subsequent_mask(7)
    for step in range(4):
        tokens = torch.randint(11, (3, 8))
        x = embedding(tokens[:, :-1]) * 8**0.5 + places
        loss = nn.functional.cross_entropy(out(encoder(x, mask=mask)).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        show(f"step {step}", [loss, schedule.get_last_lr()])
    torch.set_default_dtype(torch.float32)


def style_of_features(torch, show):
    """Features taken by hooks, Gram matrices, the picture itself is what learns."""
    nn = torch.nn
    torch.manual_seed(7)
    cnn = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3)).double().eval()
    for parameter in cnn.parameters():
        parameter.requires_grad_(False)
    taken = {}
    handles = [
        layer.register_forward_hook(lambda module, args, output, name=name: taken.__setitem__(name, output))
        for name, layer in cnn.named_children()
        if isinstance(layer, nn.Conv2d)
    ]

    def gram(x):
        a, b, c, d = x.size()
        features = x.view(a * b, c * d)
        return torch.mm(features, features.t()).div(a * b * c * d)

    cnn(torch.rand(1, 3, 12, 12, dtype=torch.float64))
    wanted = {name: gram(value).detach() for name, value in taken.items()}
    picture = torch.rand(1, 3, 12, 12, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adagrad([picture], lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        with torch.no_grad():
            picture.clamp_(0, 1)
        cnn(picture)
        loss = sum(nn.functional.mse_loss(gram(taken[name]), wanted[name]) for name in wanted)
        loss.backward()
        optimizer.step()
        show(f"step {step}", loss)
    for handle in handles:
        handle.remove()
    show("picture", picture)


def lazy_layers(torch, show):
    """Layers that find their sizes at the first batch."""
    nn = torch.nn
    torch.manual_seed(8)
    net = nn.Sequential(
        nn.LazyConv2d(4, kernel_size=3, padding=1), nn.LazyBatchNorm2d(), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
        nn.LazyLinear(5),
    )  # fmt: skip
    show("before", repr(net))
    x = torch.randn(2, 1, 6, 6)
    show("shape", net(x).shape)
    show("after", repr(net))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    y = torch.tensor([1, 3])
    show("losses", _losses(torch, net, [(x, y)] * 3, nn.CrossEntropyLoss(), optimizer))


def siamese(torch, show):
    """One network for both sides, distances, a margin, gradients accumulated over two batches."""
    nn = torch.nn
    torch.manual_seed(9)
    net = nn.Sequential(nn.Linear(6, 8), nn.ELU(), nn.Linear(8, 3)).double()
    optimizer = torch.optim.Adadelta(net.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    losses = nn.TripletMarginLoss(margin=0.5), nn.CosineEmbeddingLoss(margin=0.1)
    for step in range(3):
        optimizer.zero_grad(set_to_none=False)
        for _ in range(2):
            a, b, c = torch.randn(3, 5, 6, dtype=torch.float64)
            sign = torch.where(torch.rand(5) > 0.5, 1, -1)
            loss = losses[0](net(a), net(b), net(c)) + losses[1](net(a), net(b), sign)
            (loss / 2).backward()
        optimizer.step()
        scheduler.step()
        show(f"step {step}", loss)
    show("distance", nn.functional.pairwise_distance(net(a), net(b)))


def copied_and_frozen(torch, show):
    """A pretrained body is copied and frozen, a new head has a rate of its own."""
    nn = torch.nn
    torch.manual_seed(10)
    body = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.SiLU())
    model = nn.Sequential(copy.deepcopy(body), nn.Linear(6, 2))
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not name.startswith("0.0")
    optimizer = torch.optim.RAdam(
        [
            {"params": filter(lambda p: p.requires_grad, model[0].parameters()), "lr": 0.001},
            {"params": model[1].parameters()},
        ],
        lr=0.02,
    )  # fmt: skip
    data = [(torch.randn(5, 4), torch.rand(5, 2)) for _ in range(6)]
    show("losses", _losses(torch, model, data, nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0])), optimizer))
    show("frozen", torch.equal(model[0][0].weight, body[0].weight))
    show("moved", torch.equal(model[0][1].weight, body[1].weight))
    show("count", sum(p.numel() for p in model.parameters() if p.requires_grad))
    show("groups", [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups])
