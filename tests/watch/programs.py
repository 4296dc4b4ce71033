"""Programs that train as they should, written the way people write them: none may be found fault with."""

from tests.watch.more_programs import PROGRAMS as OTHERS

GPT2 = """
import math
import torch
import torch.nn as nn
from torch.nn import functional as F

text = "to be or not to be that is the question whether tis nobler in the mind to suffer " * 8
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
block_size, n_embd, n_head, n_layer, batch_size = 16, 32, 4, 2, 8
torch.manual_seed(1337)


class CausalSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(n_embd, dim=2)
        k = k.view(B, T, n_head, C // n_head).transpose(1, 2)
        q = q.view(B, T, n_head, C // n_head).transpose(1, 2)
        v = v.view(B, T, n_head, C // n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = att @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention()
        self.mlp = nn.Sequential(
            nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd), nn.Dropout(0.1)
        )

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(len(chars), n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.ModuleList([Block() for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, len(chars), bias=False)
        self.wte.weight = self.lm_head.weight
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            torch.nn.init.zeros_(module.bias)

    def forward(self, idx, targets=None):
        pos = torch.arange(0, idx.size(1))
        x = self.wte(idx) + self.wpe(pos)
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)


model = GPT()
decay = [p for p in model.parameters() if p.dim() >= 2]
nodecay = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW(
    [{"params": decay, "weight_decay": 0.1}, {"params": nodecay, "weight_decay": 0.0}], lr=6e-4, betas=(0.9, 0.95)
)


def get_lr(it, warmup_iters=5, max_iters=13):
    if it < warmup_iters:
        return 6e-4 * it / warmup_iters
    return 6e-5 + 0.5 * (1.0 + math.cos(math.pi * (it - warmup_iters) / (max_iters - warmup_iters))) * 5.4e-4


@torch.no_grad()
def estimate_loss():
    model.eval()
    losses = torch.zeros(2)
    for k in range(2):
        ix = torch.randint(len(data) - block_size, (batch_size,))
        x = torch.stack([data[i : i + block_size] for i in ix])
        losses[k] = model(x, x)[1].item()
    model.train()
    return losses.mean()


for it in range(13):
    for param_group in optimizer.param_groups:
        param_group["lr"] = get_lr(it)
    if it % 5 == 0:
        estimate_loss()
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + block_size] for i in ix])
    logits, loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
"""

BERT = """
import torch
from torch import nn

torch.manual_seed(0)
VOCAB, HIDDEN, MASK = 40, 32, 3


class BertEmbeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCAB, HIDDEN, padding_idx=0)
        self.position_embeddings = nn.Embedding(12, HIDDEN)
        self.token_type_embeddings = nn.Embedding(2, HIDDEN)
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, input_ids, token_type_ids):
        positions = torch.arange(input_ids.size(1)).unsqueeze(0)
        x = self.word_embeddings(input_ids) + self.position_embeddings(positions)
        return self.dropout(self.LayerNorm(x + self.token_type_embeddings(token_type_ids)))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = BertEmbeddings()
        layer = nn.TransformerEncoderLayer(HIDDEN, 4, 64, 0.1, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.decoder = nn.Linear(HIDDEN, VOCAB)

    def forward(self, input_ids, token_type_ids, attention_mask):
        x = self.embeddings(input_ids, token_type_ids)
        return self.decoder(self.encoder(x, src_key_padding_mask=attention_mask == 0))


model = Bert()
model.train()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5, eps=1e-8)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, s / 4) * max(0.0, (14 - s) / 14))

for epoch in range(7):
    for _ in range(2):
        input_ids = torch.randint(4, VOCAB, (8, 12))
        input_ids[:4, 9:] = 0
        attention_mask = (input_ids != 0).long()
        labels = input_ids.clone()
        masked = torch.bernoulli(torch.full(labels.shape, 0.15)).bool() & attention_mask.bool()
        masked[0, 0] = True
        labels[~masked] = -100
        input_ids[masked] = MASK
        optimizer.zero_grad()
        logits = model(input_ids, torch.zeros_like(input_ids), attention_mask)
        loss = criterion(logits.view(-1, VOCAB), labels.view(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
"""

LSTM_ZERO_STATE = """
import torch
import torch.nn as nn

sequence_length, input_size, hidden_size, num_layers, num_classes = 7, 7, 16, 2, 4
torch.manual_seed(2)


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, num_classes):
        super(RNN, self).__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_size, num_classes)

    def forward(self, x):
        h0 = torch.zeros(self.num_layers, x.size(0), self.hidden_size)
        c0 = torch.zeros(self.num_layers, x.size(0), self.hidden_size)
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1, :])


model = RNN(input_size, hidden_size, num_layers, num_classes)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for i in range(14):
    images, labels = torch.randn(20, sequence_length, input_size), torch.randint(0, num_classes, (20,))
    outputs = model(images)
    loss = criterion(outputs, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

TRUNCATED_BPTT = """
import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_

torch.manual_seed(0)
vocab_size, embed_size, hidden_size, batch_size, seq_length = 30, 16, 24, 5, 6
ids = torch.randint(0, vocab_size, (batch_size, 90))


class RNNLM(nn.Module):
    def __init__(self):
        super(RNNLM, self).__init__()
        self.embed = nn.Embedding(vocab_size, embed_size)
        self.lstm = nn.LSTM(embed_size, hidden_size, 1, batch_first=True)
        self.linear = nn.Linear(hidden_size, vocab_size)

    def forward(self, x, h):
        out, (h, c) = self.lstm(self.embed(x), h)
        return self.linear(out.reshape(out.size(0) * out.size(1), out.size(2))), (h, c)


def detach(states):
    return [state.detach() for state in states]


model = RNNLM()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
for epoch in range(2):
    states = (torch.zeros(1, batch_size, hidden_size), torch.zeros(1, batch_size, hidden_size))
    for i in range(0, ids.size(1) - seq_length, seq_length):
        inputs, targets = ids[:, i : i + seq_length], ids[:, (i + 1) : (i + 1) + seq_length]
        states = detach(states)
        outputs, states = model(inputs, states)
        loss = criterion(outputs, targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
"""

SHIFT_INVARIANT_KEYS = '''
import torch
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    """A bias of the keys adds the same to all scores of a query: softmax takes it out, its gradient is zero."""

    def __init__(self, dim):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).mT / x.shape[-1] ** 0.5
        return scores.softmax(-1) @ self.value(x)


model = nn.Sequential(Attention(8), nn.LayerNorm(8), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for step in range(14):
    x = torch.randn(4, 5, 8)
    loss = nn.functional.mse_loss(model(x), x[..., :2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''

ACCUMULATION = """
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(10, 20), torch.nn.ReLU(), torch.nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
loss_fn = torch.nn.MSELoss()
batches = [(torch.randn(8, 10), torch.randn(8, 1)) for _ in range(35)]
accumulation_steps = 5
running = 0.0

model.zero_grad()
for i, (inputs, labels) in enumerate(batches):
    predictions = model(inputs)
    loss = loss_fn(predictions, labels)
    loss = loss / accumulation_steps
    loss.backward()
    running += loss.detach()
    if (i + 1) % accumulation_steps == 0:
        optimizer.step()
        model.zero_grad()
"""

SCALER = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120)  # too large: the first steps are skipped
loss_fn = nn.MSELoss()
for epoch in range(3):
    for _ in range(14):
        input, target = torch.randn(8, 16), torch.randn(8, 4)
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            output = net(input)
            loss = loss_fn(output.float(), target)
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
"""

EMA = """
import copy
import torch
from torch import nn

torch.manual_seed(0)


class EMA:
    def __init__(self, model, decay):
        self.model, self.decay, self.shadow, self.backup = model, decay, {}, {}
        for name, param in model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = param.data.clone()

    def update(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                new_average = (1.0 - self.decay) * param.data + self.decay * self.shadow[name]
                self.shadow[name] = new_average.clone()

    def apply_shadow(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.backup[name] = param.data
                param.data = self.shadow[name]

    def restore(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                param.data = self.backup[name]
        self.backup = {}


model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2))
teacher = copy.deepcopy(model)
for p in teacher.parameters():
    p.requires_grad_(False)
ema = EMA(model, 0.99)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(14):
    x = torch.randn(8, 6)
    with torch.no_grad():
        wanted = teacher(x)
    loss = nn.functional.mse_loss(model(x), wanted) + nn.functional.mse_loss(model(x), x[:, :2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update()
    with torch.no_grad():
        for q, p in zip(model.parameters(), teacher.parameters()):
            p.data.mul_(0.9).add_(0.1 * q.data)
            p.copy_(p)
    if step % 2 == 0:
        ema.apply_shadow()
        with torch.no_grad():
            model(x)
        ema.restore()
"""

LORA = """
import math
import torch
from torch import nn

torch.manual_seed(0)


class LoRALinear(nn.Linear):
    def __init__(self, in_features, out_features, r=4, lora_alpha=8, lora_dropout=0.1):
        super().__init__(in_features, out_features)
        self.lora_dropout = nn.Dropout(lora_dropout)
        self.lora_A = nn.Parameter(self.weight.new_zeros((r, in_features)))
        self.lora_B = nn.Parameter(self.weight.new_zeros((out_features, r)))
        self.scaling = lora_alpha / r
        self.weight.requires_grad = False
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def forward(self, x):
        result = super().forward(x)
        low_rank = self.lora_dropout(x) @ self.lora_A.transpose(0, 1) @ self.lora_B.transpose(0, 1)
        return result + low_rank * self.scaling


model = nn.Sequential(LoRALinear(8, 16), nn.ReLU(), LoRALinear(16, 3))
for n, p in model.named_parameters():
    if "lora_" not in n:
        p.requires_grad = False
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for step in range(14):
    x, y = torch.randn(16, 8), torch.randint(0, 3, (16,))
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
"""

PROGRAMS = {name: source for name, source in list(globals().items()) if name.isupper() and name != "OTHERS"} | OTHERS
