"""Transformers against PyTorch under one seed: parameters, dropout, masks, gradients, evaluation, state."""

import copy
import pickle

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch


def shown(torch, show, module, output, inputs):
    """Show an output and the gradients that a weighted sum of it gives."""
    show("y", output)
    module.zero_grad()
    (output * torch.arange(1.0, output.numel() + 1, dtype=output.dtype).reshape(output.shape).cos()).sum().backward()
    show("inputs", [x.grad for x in inputs])
    show("gradients", {name: p.grad for name, p in module.named_parameters()})


LAYERS = [
    {}, {"norm_first": True}, {"activation": "gelu"}, {"batch_first": True}, {"bias": False}, {"dropout": 0.0},
    {"layer_norm_eps": 0.1, "batch_first": True, "norm_first": True, "activation": "gelu", "bias": False},
]  # fmt: skip


@pytest.mark.parametrize("options", LAYERS, ids=str)
def test_encoder_layer(options):
    def program(torch, show):
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(8, 2, 12, **options)
        show("repr", repr(layer))
        show("state", dict(layer.state_dict()))
        layer = layer.double()
        x = torch.randn(3, 4, 8, dtype=torch.float64, requires_grad=True)
        length = 4 if options.get("batch_first") else 3
        causal = torch.ones(length, length, dtype=torch.bool).triu(1)
        shown(torch, show, layer, layer(x), [x])
        shown(torch, show, layer, layer(x, causal), [x])
        shown(torch, show, layer, layer(x, causal, is_causal=True), [x])
        layer.eval()
        hidden = torch.zeros(7 - length, length, dtype=torch.bool)
        hidden[1, -1] = True
        shown(torch, show, layer, layer(x, src_key_padding_mask=hidden), [x])
        with torch.no_grad():
            show("inference", layer(x, causal, hidden))
            show.error(lambda: layer(x, is_causal=True), "hint alone")

    check(program)


@pytest.mark.parametrize("options", LAYERS, ids=str)
def test_decoder_layer(options):
    def program(torch, show):
        torch.manual_seed(0)
        layer = torch.nn.TransformerDecoderLayer(8, 2, 12, **options)
        show("repr", repr(layer))
        show("state", dict(layer.state_dict()))
        layer = layer.double()
        first = options.get("batch_first")
        x = torch.randn(3, 4, 8, dtype=torch.float64, requires_grad=True)
        m = torch.randn(*((3, 6) if first else (6, 4)), 8, dtype=torch.float64, requires_grad=True)
        length = 4 if first else 3
        causal = torch.ones(length, length, dtype=torch.bool).triu(1)
        shown(torch, show, layer, layer(x, m, causal), [x, m])
        hidden = torch.zeros(7 - length, 6, dtype=torch.bool)
        hidden[1, 3:] = True
        shown(torch, show, layer, layer(x, m, causal, None, None, hidden, tgt_is_causal=True), [x, m])
        shown(torch, show, layer.eval(), layer(x, m, memory_mask=torch.zeros(length, 6, dtype=torch.bool)), [x, m])

    check(program)


def test_activations():
    def program(torch, show):
        nn = torch.nn
        for activation in ("relu", "gelu", nn.functional.relu, nn.functional.gelu, nn.ReLU(), nn.GELU(), torch.tanh):
            layer = nn.TransformerEncoderLayer(4, 2, 8, activation=activation)
            show("kind", layer.activation_relu_or_gelu)
        show.error(lambda: nn.TransformerEncoderLayer(4, 2, 8, activation="tanh"))
        show.error(lambda: nn.TransformerDecoderLayer(4, 2, 8, activation="tanh"))
        torch.manual_seed(0)
        show("y", nn.TransformerEncoderLayer(4, 2, 8, activation=torch.tanh)(torch.randn(3, 4)))

    check(program)


def test_encoder():
    def program(torch, show):
        nn = torch.nn
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, dtype=torch.float64)
        encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8, dtype=torch.float64))
        show("repr", repr(encoder))
        show("state", list(encoder.state_dict()))
        x = torch.randn(3, 4, 8, dtype=torch.float64, requires_grad=True)
        mask = nn.Transformer.generate_square_subsequent_mask(4, dtype=torch.float64)
        show("mask", mask)
        shown(torch, show, encoder, encoder(x, mask), [x])
        shown(torch, show, encoder, encoder(x, mask, is_causal=True), [x])
        left = torch.tensor([[False, False, True, True], [False] * 4, [True] * 4])
        right = torch.tensor([[True, False, False, True], [False] * 4, [True, False, True, False]])
        shown(torch, show, encoder, encoder(x, src_key_padding_mask=right), [x])
        encoder.eval()
        for padding in (left, right, left[[1, 1, 1]]):
            show("with gradient", encoder(x, src_key_padding_mask=padding))
            with torch.no_grad():
                show("inference", encoder(x, src_key_padding_mask=padding).nan_to_num(7.0))
                show("masked", encoder(x, mask == -float("inf"), padding).nan_to_num(7.0))
        with torch.no_grad():
            show("mask", encoder(x, mask))
            show("added padding", encoder(x, src_key_padding_mask=left[[0, 1, 0]] * torch.tensor(-2.0).double()))
            unchecked = nn.TransformerEncoder(layer, 2, mask_check=False).eval()
            show("unchecked", unchecked(x, src_key_padding_mask=right))
            plain = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
            show("plain", plain(x, src_key_padding_mask=right))
            show("unbatched", plain(x[0]))

    check(program)


def test_warnings_of_nesting():
    def program(torch, show):
        nn = torch.nn
        odd = nn.TransformerEncoderLayer(6, 3, 8, batch_first=True)
        uneven = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
        uneven.norm2.eps = 0.1
        for layer in (
            nn.TransformerEncoderLayer(4, 2, 8),
            nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, norm_first=True),
            nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, bias=False),
            nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, activation=torch.tanh),
            odd,
            uneven,
            nn.TransformerDecoderLayer(4, 2, 8),
        ):
            encoder = show.warnings(lambda layer=layer: nn.TransformerEncoder(layer, 1))
            show("nests", [encoder.enable_nested_tensor, encoder.use_nested_tensor])
            show.warnings(lambda layer=layer: nn.TransformerEncoder(layer, 1, enable_nested_tensor=False))

    check(program)


def test_decoder():
    def program(torch, show):
        nn = torch.nn
        torch.manual_seed(0)
        layer = nn.TransformerDecoderLayer(8, 2, 12, dtype=torch.float64)
        decoder = nn.TransformerDecoder(layer, 2)
        show("repr", repr(decoder))
        show("state", list(decoder.state_dict()))
        x = torch.randn(3, 4, 8, dtype=torch.float64, requires_grad=True)
        m = torch.randn(6, 4, 8, dtype=torch.float64, requires_grad=True)
        mask = nn.Transformer.generate_square_subsequent_mask(3)
        shown(torch, show, decoder, decoder(x, m, mask.double()), [x, m])
        shown(torch, show, decoder.eval(), decoder(x, m, mask.double(), tgt_is_causal=False), [x, m])

    check(program)


def test_transformer():
    def program(torch, show):
        nn = torch.nn
        torch.manual_seed(0)
        model = show.warnings(lambda: nn.Transformer(8, 2, 2, 1, 12))
        show("repr", repr(model))
        show("state", dict(model.state_dict()))
        model = model.double()
        src = torch.randn(5, 3, 8, dtype=torch.float64, requires_grad=True)
        tgt = torch.randn(4, 3, 8, dtype=torch.float64, requires_grad=True)
        mask = model.generate_square_subsequent_mask(4, dtype=torch.float64)
        shown(torch, show, model, model(src, tgt), [src, tgt])
        shown(torch, show, model, model(src, tgt, tgt_mask=mask), [src, tgt])
        hidden = torch.zeros(3, 5, dtype=torch.bool)
        hidden[1, 3:] = True
        masked = model(src, tgt, src_key_padding_mask=hidden, memory_key_padding_mask=hidden)
        shown(torch, show, model, masked, [src, tgt])
        show("unbatched", model.eval()(src[:, 0], tgt[:, 0]))
        again = pickle.loads(pickle.dumps(model))
        show("copies", [again(src, tgt), copy.deepcopy(model)(src, tgt)])
        show.error(lambda: model(src, tgt[:, :2]))
        show.error(lambda: model(src[..., :4], tgt))
        custom = nn.Transformer(8, 2, custom_encoder=nn.Identity(), custom_decoder=nn.Linear(8, 8))
        show("custom", repr(custom))

    check(program)


def test_training():
    """A few steps of a small language model, with dropout: the numbers of every step."""

    def program(torch, show):
        nn = torch.nn
        torch.manual_seed(1)
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        model = nn.ModuleDict({
            "embed": nn.Embedding(11, 16), "body": nn.TransformerEncoder(layer, 2), "head": nn.Linear(16, 11),
        })  # fmt: skip
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        mask = nn.Transformer.generate_square_subsequent_mask(6)
        for _ in range(4):
            tokens = torch.randint(11, (5, 7))
            made = model["head"](model["body"](model["embed"](tokens[:, :-1]), mask))
            loss = nn.functional.cross_entropy(made.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            show("loss", round(loss.item(), 4))

    check(program)
