"""What random trainings are made of: layers, what forward methods write, losses, optimizers, what happens between."""

from __future__ import annotations

#: What fields stand for: a few values each; {f} is the last size, {c} the second, {r} how many are behind that.
FIELDS = {
    "b": "True False",
    "k": "1 2 3",
    "p": "0.0 0.2 0.5",
    "o": "2 3 4",
    "e": "1e-5 1e-3 0.1",
    "m": "0.1 0.5 None 0.0",
    "s": "1 2",
    "d": "0 1",
    "g": "1 2",
    "lr": "0.1 0.01 0.5",
    "wd": "0 0.1",
    "w": "0.9 0.5",
    "n": "0.5 1.0 2.0",
    "pad": "'zeros' 'reflect' 'replicate' 'circular'",
    "red": "'mean' 'sum' 'none'",
    "act": "ReLU() ReLU(inplace=True) GELU() GELU('tanh') Tanh() Sigmoid() SiLU() Mish() ELU({n}) SELU() CELU({n}) "
    "Softplus({n}) Softsign() Hardtanh(-{n},{n}) Hardswish() Hardsigmoid() ReLU6() LeakyReLU({p}) RReLU() LogSigmoid() "
    "Softmax(-1) LogSoftmax(1) Softmin(-1) Hardshrink() Softshrink({p}) Tanhshrink() Threshold({p},{n}) GLU() GLU(1) "
    "Identity() Dropout({p}) AlphaDropout({p}) FeatureAlphaDropout({p})",
}
NORMS = """
BatchNorm{r}d({c})|BatchNorm{r}d({c}, {e}, {m}, affine={b}, track_running_stats={b})|LayerNorm({f}, {e}, {b}, {b})
InstanceNorm{r}d({c}, {e}, 0.1, {b}, {b})|GroupNorm({g}, {c}, {e}, {b})|RMSNorm({f}, {e})|PReLU({c}, 0.1)
"""
LINES = """
Conv{r}d({c}, {o}, {k}, {s}, {d}, bias={b})|Conv{r}d({c}, 2, {k}, padding={d}, padding_mode={pad})
Conv{r}d({c}, {c}, {k}, groups={c}, dilation={s})|Conv{r}d({c}, 2, {k}, padding='same')
ConvTranspose{r}d({c}, {o}, {k}, {s}, {d}, bias={b})|ConvTranspose{r}d({c}, 2, 3, 2, 1, 1)
MaxPool{r}d({k}, {s})|MaxPool{r}d(2, ceil_mode={b})|AvgPool{r}d({k}, {s}, count_include_pad={b})|Dropout{r}d({p})
AvgPool{r}d(3, 2, 1, {b}, {b})|AdaptiveAvgPool{r}d({o})|AdaptiveMaxPool{r}d({k})|LPPool{r}d({n}, 2)
Upsample({o})|Upsample(scale_factor=2)|Upsample(scale_factor=1.5, mode='nearest-exact')|ConstantPad{r}d({s}, {n})
ReflectionPad{r}d(1)|ReplicationPad{r}d({s})|CircularPad{r}d({s})|ZeroPad{r}d({s})|Flatten()|Flatten(1, 2)
Linear({f}, {o}, {b})|LocalResponseNorm({k})|LazyConv{r}d({o}, {k})|LazyBatchNorm{r}d()|LazyLinear({o})
LazyConvTranspose{r}d({o}, {k})|LazyInstanceNorm{r}d(affine={b})|Conv{r}d({c}, {c}, 1)${l}({l}({h}))
MaxPool{r}d(2, return_indices=True)$torch.nn.functional.max_unpool{r}d(*{l}({h}), 2, output_size={h}.shape)
"""
#: Layers for inputs of so many dimensions; with "$", what is done with the layer and its input in another way.
LAYERS = {
    2: NORMS.replace("InstanceNorm{r}d({c}, {e}, 0.1, {b}, {b})|", "")
    + """
Linear({f}, {o}, {b})|LazyLinear({o})|Unflatten(1, (1, -1))|Unflatten(1, ({c}, 1, 1))|Linear({f}, {f})
Linear({f}, {f})${l}({l}({h}).relu())
Bilinear({f}, {f}, {o}, {b})${l}({h}, {h})|LSTMCell({f}, {o}, {b})${l}({h})[0]|GRUCell({f}, {o})|RNNCell({f}, 3)
""",
    3: NORMS
    + LINES
    + """
LSTM({f}, {o}, {s}, {b}, {b}, {p}, {b})${l}({h})[0]|GRU({f}, {o}, {s}, {b}, {b}, {p}, {b})${l}({h})[0]
RNN({f}, {o}, {s}, 'relu', {b}, {b}, {p}, {b})${l}({h})[0]|LSTM({f}, 3, proj_size=2)${l}({h})[0]
MultiheadAttention({f}, 1, {p}, {b}, {b}, {b}, batch_first={b})${l}({h}, {h}, {h}, need_weights={b})[0]
MultiheadAttention({f}, 1, batch_first=True)${l}({h}, {h}, {h}, torch.zeros({h}.shape[:2]).bool())[0]
MultiheadAttention({f}, 1, kdim=2, vdim=2)${l}({h}, {h}[..., :2], {h}[..., -2:], attn_mask=later(len({h})))[0]
LSTM({f}, 3, num_layers=2)${l}({h}, ({h}.new_ones(2, {h}.size(1), 3), {h}.new_zeros(2, {h}.size(1), 3)))[1][0]
GRU({f}, 3, bidirectional={b}, batch_first={b})${l}({h})[1]|LSTM({f}, 3)${l}({h}, {l}({h})[1])[0]
TransformerEncoderLayer({f}, 1, 4, {p}, norm_first={b}, batch_first={b})|Upsample(scale_factor=2, mode='linear')
LSTM({f}, {o}, {s}, bidirectional={b})$rnn.pad_packed_sequence({l}(rnn.pack_sequence([*{h}]))[0])[0]
GRU({f}, {o}, {s}, {b})${l}(rnn.pack_padded_sequence({h}, lengths({h}), False, False))[0].data
Transformer({f}, 1, 1, 1, 4, {p}, batch_first={b})${l}({h}, {h})|_Own()
TransformerEncoder(torch.nn.TransformerEncoderLayer({f}, 1, 4, 0.0, batch_first=True), {s})
TransformerDecoderLayer({f}, 1, 4, {p}, 'gelu', batch_first=True)${l}({h}, {h})|Fold((2, 2), 1)
""",
    4: NORMS
    + LINES
    + """
PixelUnshuffle(2)|PixelShuffle(2)|ChannelShuffle(2)|Softmax2d()|Unfold(2, 1, {d}, {s})|ZeroPad2d((1, 0, -1, 2))
Upsample(scale_factor=2, mode='bilinear', align_corners={b})|Upsample(3, mode='bicubic')|UpsamplingNearest2d(5)
FractionalMaxPool2d(2, output_size={k})|UpsamplingBilinear2d({o})|Conv2d({c}, 4, (1, 2), (2, 1), (0, 1), groups={g})
""",
    5: NORMS + LINES.replace("CircularPad{r}d", "ReplicationPad{r}d") + "Upsample(scale_factor=2, mode='trilinear')\n",
}
#: What forward methods do without a layer, to inputs of any sizes, of three dimensions or more, of four.
WRITTEN = """
${h}.cumsum(1)|${h} + {h}.mean(0)|$torch.cat([{h}, {h}.flip(-1)], -1)|${h}.transpose(0, 1)|${h}[..., ::2]|${h}[:, None]
$torch.where({h} > 0, {h}, {h} * 0.1)|${h}.masked_fill({h} < 0, {n})|${h}.roll(1, -1)|${h}.unbind(0)[0]
${h}.chunk(2, -1)[0]
${h} - {h}.logsumexp(-1, keepdim=True)|$torch.nn.functional.normalize({h}, dim={d})
${h}.clamp(-{n}, {n}) * {h}.sigmoid()
${h} / {h}.std(-1, keepdim={b}, correction=0).mean().clamp_min({n})|${h}.square().sum(-1, True).sqrt()
${h}.exp().log1p()
$torch.stack([{h}, {h}.tanh()], 1).amax(1)|${h}.flatten(1).unsqueeze(1).expand(-1, 2, -1)
${h}.index_select(-1, torch.tensor([0, 0]))
${h} * torch.arange({h}.size(-1))|${h}.gather(1, {h}.argsort(dim=1, stable=True))
${h}[{h}.isfinite()].reshape({h}.shape)|${h}.relu() ** 2
$torch.nn.functional.gumbel_softmax({h}, hard={b})|$torch.distributions.Normal({h}, {n}).rsample()|${h}.diff(dim=0)
$torch.fft.rfft({h}, norm='ortho').abs()|$torch.view_as_real(torch.complex({h}, {h}) ** 2).sum(-1)
$torch.lerp({h}, {h}.detach(), {n})|$(lambda o: o.add_({h}))(torch.zeros_like({h}))|${h}.clone().mul_({h}.sigmoid())
$(lambda o: o.__setitem__(0, {n}) or o)({h}.clone())|$(lambda o: o.index_put_((torch.tensor([0]),), {h}[-1:]))({h} * 1)
$torch.scatter({h}, 1, {h}.argsort(dim=1, stable=True), {h})
${h}.repeat_interleave(2, -1)|${h}.cumprod(-1)|${h}.prod(-1, keepdim=True)
${h}.median(-1, keepdim=True)[0] * {h}|${h} / {h}.var(1, keepdim=True, correction=0).add({n})|${h}.nan_to_num().erf()
$torch.atan2({h}, {h}.cos())|$torch.stack([*{h}]).tanh()|${h}.reshape(-1).view({h}.shape)
${h}.index_add(0, torch.tensor([0]), {h}[-1:])
$torch.addcmul({h}, {h}, {h}, value={n})|${h}.sign() * {h}.abs().clamp_min({n}).sqrt()
${h}.quantile({p}, -1, True) + {h}
$torch.hypot({h}, {h}.roll(1, 0))|$torch.cat(torch.split({h}, 1, -1)[::-1], -1)
$torch.where({h}.isnan(), 0, {h}).square()
${h}.aminmax(dim=-1, keepdim=True).max * {h}|$torch.concat([{h}[:1], {h}])|${h}.masked_select({h} > -9).view_as({h})
$torch.nn.functional.rms_norm({h}, ({f},))|$torch.nn.functional.softmax({h}, 1, dtype=torch.float32)|${h}.abs().pow({n})
"""
WRITTEN_ROWS = """
$torch.nn.functional.scaled_dot_product_attention({h}, {h}, {h}, is_causal={b})|${h}.softmax(-1) @ {h}.mT
$torch.einsum('...ij,...kj->...ik', {h}, {h})|$torch.nn.functional.layer_norm({h}, {h}.shape[-2:])|${h}.tril(1)|${h}.mT
$torch.nn.functional.scaled_dot_product_attention({h}, {h}, {h}, {h}.new_zeros({h}.size(-2), {h}.size(-2)))
${h}.unfold(-1, 2, 1)|$torch.nn.functional.pad({h}, (1, 1), mode='replicate')|${h}.movedim(1, -1)
$torch.linalg.norm({h}, dim=-1)
$torch.cdist({h}, {h}, p={n})|$torch.linalg.solve({h} @ {h}.mT + torch.eye({h}.size(-2)).to({h}.dtype), {h})
$torch.linalg.svdvals({h})|${h} @ torch.linalg.matrix_exp({h}.mT @ {h} / 9)
$torch.logdet({h} @ {h}.mT + 2 * torch.eye({h}.size(-2)).to({h}.dtype))
$torch.linalg.cholesky({h} @ {h}.mT + 2 * torch.eye({h}.size(-2)).to({h}.dtype))|${h}.diagonal(0, -1, -2)
${h}.trace() if {h}.ndim == 2 else {h}
$torch.kron({h}[0], {h}[-1])|$torch.tensordot({h}, {h}, ([-1], [-1])).mean(0)
$torch.outer({h}.flatten()[:4], {h}.flatten()[-3:])
$torch.baddbmm({h}.flatten(2), {h}.flatten(2), {h}.new_ones(len({h}), {h}[0, 0].numel(), {h}[0, 0].numel()))
"""
WRITTEN_PLANES = """
$torch.nn.functional.grid_sample({h}, {h}.new_zeros(len({h}), 2, 3, 2) + {h}.mean().tanh(), align_corners={b})
$torch.nn.functional.interpolate({h}, scale_factor={n}, mode='area')|${h}.mean((2, 3), keepdim=True) * {h}
$torch.nn.functional.affine_grid({h}[:, 0, :2, :3], ({h}.size(0), 1, 2, 2), {b})|${h}.permute(0, 2, 3, 1)
"""
TOKENS = """
Embedding(6, {o}, sparse=True)|EmbeddingBag(6, 3, mode='sum', sparse=True)
Embedding(6, {o}, {d})|Embedding(6, 4, max_norm=1.0)|Embedding(6, 3, scale_grad_by_freq=True)|Embedding(6, 2)
EmbeddingBag(6, {o}, mode='sum')|EmbeddingBag(6, 3, mode='max')|EmbeddingBag(6, 3, padding_idx=1)
"""
#: Losses, and what their target is: numbers as the scores, classes, chances, signs, or as said in words.
LOSSES = """
MSELoss(reduction={red})~x|L1Loss(reduction={red})~x|SmoothL1Loss(beta={n}, reduction={red})~x
HuberLoss(reduction={red}, delta={n})~x|BCEWithLogitsLoss(reduction={red})~x|CrossEntropyLoss(reduction={red})~c
BCEWithLogitsLoss(pos_weight=torch.tensor({n}))~x|CrossEntropyLoss(label_smoothing=0.1, ignore_index=1)~c
CrossEntropyLoss(label_smoothing=0.2)~p|NLLLoss(reduction={red}, ignore_index={d})~c|KLDivLoss(reduction='batchmean')~p
KLDivLoss(reduction={red}, log_target=True)~x|PoissonNLLLoss(full={b}, reduction={red})~p|SoftMarginLoss()~s
PoissonNLLLoss(log_input={b})~p|MultiLabelSoftMarginLoss(reduction={red})~x|MultiMarginLoss({k}, {n})~c
MultiLabelMarginLoss(reduction={red})~l|HingeEmbeddingLoss({n}, reduction={red})~s|GaussianNLLLoss(full={b})~g
TripletMarginLoss({n}, {s}, swap={b})~t|CosineEmbeddingLoss({n})~e|MarginRankingLoss({n})~r
BCELoss(reduction={red})~p|CosineSimilarity()~x|PairwiseDistance({n}, keepdim={b})~x
TripletMarginWithDistanceLoss(margin={n}, swap={b})~t|CrossEntropyLoss(weight=torch.ones({f}), reduction={red})~c
CTCLoss(reduction={red}, zero_infinity={b})~k|AdaptiveLogSoftmaxWithLoss({f}, 5, [2, 4], div_value=2.0, head_bias={b})~a
CrossEntropyLoss(reduction={red}, label_smoothing={p})~q|MSELoss()~v|L1Loss()~h
NLLLoss(torch.ones({f}), ignore_index=1)~o
BCELoss(torch.tensor({n}))~m|CrossEntropyLoss(torch.arange(1.0, 1 + {f}), label_smoothing={p})~q
KLDivLoss(reduction='sum')~u
"""
OPTIMIZERS = """
SGD(lr={lr}, weight_decay={wd})|SGD(lr=0.1, momentum={w}, nesterov={b}, maximize={b}, foreach={b})|Adam(lr={lr})
SGD(lr=0.1, momentum=0.9, dampening=0.5)|Adam(lr={lr}, betas=({w}, 0.99), eps=1e-3, weight_decay={wd}, amsgrad={b})
AdamW(lr={lr}, weight_decay={wd}, foreach={b})|Adam(lr=0.1, fused=True)|AdamW(lr=torch.tensor({lr}), foreach=False)
Adagrad(lr={lr}, lr_decay=0.1, initial_accumulator_value=0.5)|Adadelta(lr={lr}, rho={w})|Adamax(lr={lr})
RMSprop(lr=0.01, alpha={w}, momentum={w}, centered={b}, eps=1e-2)|Rprop(lr=0.01, etas=(0.5, 1.2))|ASGD(lr={lr})
NAdam(lr={lr}, decoupled_weight_decay={b}, weight_decay={wd})|RAdam(lr={lr}, weight_decay={wd})|Adafactor(lr={lr})
Adam(lr=0.1, maximize=True)|LBFGS(lr=0.1, max_iter=2)|SGD(lr=0.1, fused=True)|Adam(lr=0.1, decoupled_weight_decay=True)
Muon(lr={lr}, weight_decay={wd}, nesterov={b})|SparseAdam(lr={lr})|Rprop(lr=0.1, maximize=True)
ASGD(lr=0.1, t0=1, lambd=0.1)|Adagrad(lr=0.1, fused={b})|Adadelta(lr=0.5, weight_decay={wd}, maximize={b})
Adamax(lr=0.1, weight_decay={wd}, maximize={b})|RMSprop(lr=0.1, weight_decay=0.1, maximize={b}, foreach={b})
LBFGS(lr=0.5, max_iter=3, history_size=2, line_search_fn='strong_wolfe')
Adam(lr=torch.tensor(0.1), betas=(torch.tensor(0.9), torch.tensor(0.99)), foreach=False)
Adafactor(d={n}, maximize={b})
Rprop(step_sizes=(0.1, 1.0))|Muon(momentum={w}, ns_steps={k}, adjust_lr_fn='match_rms_adamw')
AdamW(fused=True, amsgrad={b})
LBFGS(max_iter=4, tolerance_grad=0.01, tolerance_change=0.01)|SparseAdam(maximize=True)|SGD(lr=0.1, differentiable=True)
RAdam(lr=0.1, decoupled_weight_decay={b}, maximize={b})|NAdam(lr=0.1, momentum_decay=0.1, maximize={b})
"""
SCHEDULES = """
StepLR(opt, {s}, {w})|MultiStepLR(opt, [1, 2], {w})|ExponentialLR(opt, {w})|CosineAnnealingLR(opt, {o})
LambdaLR(opt, lambda n: 1 / (n + 1))|MultiplicativeLR(opt, lambda n: 0.9)|ConstantLR(opt, 0.5, {k})|LinearLR(opt)
PolynomialLR(opt, {o}, {n})|CyclicLR(opt, 0.01, 0.1, 2, cycle_momentum=False)|OneCycleLR(opt, 0.5, total_steps=9)
CosineAnnealingWarmRestarts(opt, {s}, 2)|OneCycleLR(opt, 0.5, epochs=3, steps_per_epoch=3, anneal_strategy='linear')
SequentialLR(opt, [plans.ConstantLR(opt, 0.5), plans.ExponentialLR(opt, 0.9)], [{s}])|LRScheduler(opt)
CyclicLR(opt, 0.01, 0.1, 1, 2, 'exp_range', 0.9)|CosineAnnealingLR(opt, 2, 0.01)
ChainedScheduler([plans.LinearLR(opt, 0.5), plans.StepLR(opt, 1, 0.5)])|CyclicLR(opt, 0.01, 0.1, 2, mode='triangular2')
ReduceLROnPlateau(opt, factor={w}, patience=0, threshold=10.0)|ReduceLROnPlateau(opt, 'max', 0.5, {d}, cooldown={d})
"""
#: What may happen between two steps: to the layer {l}, or to the whole.
BETWEEN = """
model.eval()|model.train()|{l}.requires_grad_({b})|{l}.register_forward_hook(lambda m, a, r: None)
{l}.register_forward_hook(lambda m, a, r: r * 2)|{l}.register_forward_pre_hook(lambda m, a: (a[0] * 1,) + a[1:])
{l}.register_full_backward_hook(lambda m, i, o: tuple(None if g is None else g * 2 for g in i))
{l}.register_full_backward_pre_hook(lambda m, o: tuple(None if g is None else g * 0.5 for g in o))
next(model.parameters()).register_hook(lambda g: g * 2)|model.zero_grad(set_to_none={b})|model.double()
next(model.parameters()).register_post_accumulate_grad_hook(lambda p: setattr(p, 'grad', p.grad * 0.5))
opt.register_step_pre_hook(lambda o, a, k: None)|opt.load_state_dict(copy.deepcopy(opt.state_dict()))
model.load_state_dict(again(model.state_dict()))|opt.load_state_dict(again(opt.state_dict()))
said = [n for n, _ in model.named_parameters()]|said = repr(model)|said = [*model.state_dict()]|said = repr(opt)
torch.nn.utils.vector_to_parameters(torch.nn.utils.parameters_to_vector(model.parameters()) * 0.9, model.parameters())
parametrizations.weight_norm({l}, 'weight', {d})|parametrize.remove_parametrizations({l}, 'weight')
parametrizations.spectral_norm({l})|parametrizations.orthogonal({l})|prune.l1_unstructured({l}, 'weight', 0.3)
prune.random_unstructured({l}, 'weight', {k})|prune.ln_structured({l}, 'weight', 1, {n}, 0)
prune.remove({l}, 'weight')|torch.nn.init.xavier_uniform_({l}.weight)|torch.nn.init.kaiming_normal_({l}.weight, 0.1)
{l}.reset_parameters()|torch.nn.init.orthogonal_({l}.weight)|torch.nn.init.trunc_normal_({l}.weight, 0.0, 0.5)
{l}.extra_repr()|torch.nn.init.sparse_({l}.weight, 0.5)|torch.nn.init.dirac_({l}.weight)
torch.nn.init.kaiming_uniform_({l}.weight)|torch.nn.init.eye_({l}.weight)
torch.nn.init.xavier_normal_({l}.weight, {n})|torch.nn.init.constant_({l}.bias, {n})
prune.random_structured({l}, 'weight', 1, 0)|prune.custom_from_mask({l}, 'weight', {l}.weight > 0)
prune.global_unstructured([({l}, 'weight')], prune.L1Unstructured, amount=0.4)|prune.identity({l}, 'bias')
torch.nn.utils.weight_norm({l})|torch.nn.utils.remove_weight_norm({l})|torch.nn.utils.spectral_norm({l})
with parametrize.cached(): forward(x).sum().backward()|{l}.weight = {j}.weight|{j}.bias = {l}.bias
{all}model, opt = copy.deepcopy(({all}model, opt))|forward(x).sum().backward()
(forward(x).square().mean() / 2).backward()
scaler = torch.amp.GradScaler('cpu', {n}, growth_interval=1); scaler.scale(forward(x).sum()).backward()
scaler.step(opt); scaler.update(); said = scaler.state_dict()|scaler.unscale_(opt)
opt.param_groups[0]['weight_decay'] = 0.1
mean = torch.optim.swa_utils.AveragedModel(model, avg_fn=torch.optim.swa_utils.get_ema_avg_fn(0.5), use_buffers=True)
torch.optim.swa_utils.update_bn([x], mean)|plan = torch.optim.swa_utils.SWALR(opt, 0.05, {k}, 'linear'); plan.step()
judge = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.LazyLinear(1)); other = torch.optim.Adam(judge.parameters())
judge(forward(x).detach().to(torch.float32)).mean().backward(); other.step(); other.zero_grad()
judge(forward(x).to(torch.float32)).mean().backward()|opt.param_groups[0]['params'].pop()
said = opt.state_dict()['param_groups'][0]['lr']
opt = torch.optim.SGD([{'params': p, 'lr': 0.1} for p in ps()], momentum={w}, foreach={b})
opt = torch.optim.AdamW(model.named_parameters(), amsgrad={b}); said = [g['param_names'] for g in opt.param_groups]
torch.nn.utils.clip_grads_with_norm_(model.parameters(), {n}, torch.tensor({n}))|model.apply(lambda m: m.train({b}))
z = torch.utils.checkpoint.checkpoint(forward, x, use_reentrant=True)|model.share_memory()|model.requires_grad_({b})
n = torch.nn.utils.clip_grad_norm_(model.parameters(), {n}, float('inf'), error_if_nonfinite={b}, foreach={b})
said = [type(m).__name__ for m in model.modules()]|model.to(torch.float32)|model.bfloat16()
said = [tuple(p.shape) for p in opt.state]|{l}.weight.grad = None|{l}.register_buffer('own', torch.ones(2))
{l}.register_parameter('bias', None)
model.load_state_dict({k: v * 0.5 for k, v in model.state_dict().items()}, assign={b})
said = model.load_state_dict({}, False)
opt.add_param_group({'params': [torch.nn.Parameter(torch.ones(2))], 'lr': 0.3})|opt.param_groups[0]['lr'] = 0.05
mean = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
mean = torch.optim.swa_utils.AveragedModel(model)|mean.update_parameters(model)
model.to(memory_format=torch.channels_last)|n = torch.nn.utils.clip_grad_norm_(model.parameters(), {n}, {n})
torch.nn.utils.clip_grad_value_(model.parameters(), 0.01)|n = torch.nn.utils.get_total_norm([p.grad for p in ps()])
{l}.weight.data.mul_(0.9)|z = call(model, {k: v * 2 for k, v in model.named_parameters()}, (x,))
z = torch.func.vmap(forward, randomness='same')(x.unsqueeze(0))|z = torch.func.jvp(forward, (x,), (x,))[1]
z = torch.func.vjp(forward, x)[1](torch.ones_like(forward(x)))[0]|z = torch.autograd.functional.jvp(forward, x, x)[1]
z = torch.func.grad(lambda p: call(model, p, (x,)).sum())(named())|z = torch.cat([g.flatten() for g in z.values()])
z = torch.utils.checkpoint.checkpoint(forward, x, use_reentrant=False)|z = copy.deepcopy(model)(x)
z = torch.autograd.grad(forward(x).sum(), list(model.parameters()), allow_unused=True)[0]|z = model.half()(x.half())
with torch.autocast('cpu', torch.bfloat16): z = forward(x)|with torch.no_grad(): z = forward(x)
with torch.inference_mode(): z = forward(x).clone()
with graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t): z = forward(x)|with graph.save_on_cpu(): z = forward(x)
with torch.autograd.set_detect_anomaly(True): forward(x).sum().backward()
z = torch.utils.checkpoint.checkpoint_sequential(model, 1, x, use_reentrant={b})|z = torch.func.jacrev(forward)(x)
z = torch.func.hessian(lambda x: forward(x).square().sum())(x)|z = torch.func.jacfwd(lambda x: forward(x).sum())(x)
z = torch.func.vmap(torch.func.grad(lambda x: forward(x[None]).sum()))(x)|z = torch.func.linearize(forward, x)[1](x)
z = torch.autograd.functional.vjp(forward, x, forward(x).detach())[1]|z = torch.fx.symbolic_trace(model)(x)
z = again(forward(x).detach())|z = torch.cat([a[0] for a in data.DataLoader(data.TensorDataset(x), {k}, shuffle={b})])
for a, in data.DataLoader(data.TensorDataset(x), 2, drop_last={b}): z = forward(a)
parametrize.register_parametrization({l}, 'weight', torch.nn.Softplus())|z = Twice.apply(forward(x))
z = torch.nn.utils.stateless.functional_call(model, named(), (x,))
g = torch.autograd.grad(forward(x).square().sum(), [*ps()], create_graph=True, allow_unused=True)
sum(p.square().sum() for p in g if p is not None and p.requires_grad).backward()
fast = {k: v * 0.9 + {n} for k, v in model.named_parameters()}; z = call(model, fast, (x,))
z = D.Normal(forward(x), {n}).log_prob(forward(x).detach() + {n}).sum(); z.backward()
z = D.kl_divergence(D.Normal(forward(x), {n}), D.Normal(0.0, 1.0)).sum()
c = D.Categorical(logits=forward(x)); (c.log_prob(c.sample()).mean() + c.entropy().sum()).backward()
c = D.Bernoulli(logits=forward(x)); z = c.log_prob(c.sample()).mean(); z.backward()
z = torch.autograd.functional.hessian(lambda x: forward(x).square().sum(), x)
with torch.no_grad(): [p.add_(p.grad, alpha=-{lr}) for p in ps() if p.grad is not None]
with torch.no_grad(): [p.copy_(p.lerp(p * 0, 0.1)) for p in ps()]|model.append(torch.nn.Linear(2, 2))
model.insert(0, torch.nn.Identity())|model.pop(0)|said = repr(model[:1])|del model[-1]
model.add_module('more', torch.nn.ReLU())|said = [n for n, _ in model.named_buffers()]|model.extend([torch.nn.Tanh()])
said = [n for n, _ in model.named_modules()]|said = [n for n, _ in {l}.named_children()]|model.get_submodule('0')
said = [*model.state_dict(prefix='a.')]|said = [p.requires_grad for p in ps()]|model.get_parameter('0.weight')
model.register_state_dict_post_hook(lambda m, s, p, o: s.update(k=torch.ones(2)))
model.register_load_state_dict_post_hook(lambda m, k: k.missing_keys.clear())
said = model.load_state_dict({'no.such': torch.ones(2)}, strict={b})
model.load_state_dict(dict(model.state_dict()), assign={b})|model.type(torch.float64)|model.float()|model.cpu()
{l}.to(torch.float64)|model.compile(backend='eager')|{l}.train({b})
said = torch.nn.utils.parametrize.is_parametrized(model)|said = [torch.nn.utils.prune.is_pruned(m) for m in model]
opt.register_step_post_hook(lambda o, a, k: o.zero_grad())|said = [*opt.state_dict()['state']]|opt.zero_grad({b})
opt.register_state_dict_post_hook(lambda o, s: s.update(own=1))
opt.register_load_state_dict_pre_hook(lambda o, s: None)|said = repr(plan.state_dict()) if 'plan' in dir() else 0
plan.load_state_dict(again(plan.state_dict()))|said = plan.get_last_lr()|torch.manual_seed({k})
torch.set_rng_state(torch.get_rng_state())|z = torch.randn(3, generator=torch.Generator().manual_seed(1))
with torch.random.fork_rng(): z = forward(x) + torch.rand(())|with torch.set_grad_enabled({b}): z = forward(x)
with torch.autocast('cpu', torch.bfloat16): z = torch.utils.checkpoint.checkpoint(forward, x, use_reentrant=False)
with torch.autocast('cpu', torch.bfloat16): (forward(x).float() ** 2).mean().backward()
with torch.autocast('cpu', torch.float16, enabled={b}): z = forward(x)
with graph.allow_mutation_on_saved_tensors(): forward(x).sum().backward()
with torch.autograd.forward_ad.dual_level(): z = fwad.unpack_dual(forward(fwad.make_dual(x.detach(), x.detach())))[1]
z = torch.autograd.functional.jacobian(forward, x, vectorize={b})|z = torch.autograd.functional.vhp(total, x, x)[1]
z = torch.autograd.functional.hvp(total, x, x)[1]|z = torch.func.jacrev(torch.func.jacfwd(total))(x)
z = torch.func.jacfwd(torch.func.grad(total))(x)|z = torch.func.jvp(torch.func.grad(total), (x,), (x,))[1]
z = torch.func.vmap(torch.func.jacrev(lambda a: forward(a[None])[0]))(x)|z = torch.func.grad_and_value(total)(x)[1]
z = torch.func.vmap(torch.func.grad(lambda a: forward(a[None]).square().sum()), chunk_size={k})(x)
z = torch.func.vjp(forward, x)[1](torch.autograd.functional.vjp(forward, x, forward(x).detach())[0])[0]
p, b = torch.func.stack_module_state([model, copy.deepcopy(model)])
z = torch.func.vmap(lambda p, b: call(model, (p, b), (x,)), randomness='different')(p, b)
z = torch.func.vmap(lambda p, a: call(model, p, (a,)), (None, 0))(named(), x[:, None])
g = torch.func.vmap(torch.func.grad(lambda p, a: call(model, p, a).sum()), (None, 0)); n = named()
z = flat(*g(n, (x[:, None],)).values())|model.requires_grad_(False); z = forward(x).sum()
z = torch.autograd.grad(total(x), [p for p in ps() if p.requires_grad], create_graph=True, allow_unused=True)[-1]
z = flat(*torch.autograd.grad(total(x), [*ps()], materialize_grads=True, allow_unused=True))
z = torch.autograd.grad(forward(x), [*ps()][0], ones(forward(x), 2), is_grads_batched=True)[0]
z = forward(x); z.register_hook(lambda g: g * 2); z.retain_grad(); z.sum().backward(); z = z.grad
z = forward(x); z.grad_fn.register_prehook(lambda g: (g[0] * 2,)); z.sum().backward(); z = z.detach()
z = forward(x); z.grad_fn.register_hook(halved); z.sum().backward()
seen = []; graph.register_multi_grad_hook([*ps()], lambda g: seen.append([a is not None for a in g]))
forward(x).sum().backward(); said = seen|said = names(forward(x))|said = names(total(x))
forward(x).sum().backward(inputs=[*ps()])|loss = total(x); loss.backward(retain_graph=True); loss.backward()
loss = total(x); loss.backward(create_graph=True)
z = D.MultivariateNormal(forward(x).flatten()[:2], torch.eye(2, dtype=x.dtype)).rsample()
z = D.Gamma(forward(x).exp(), {n}).log_prob(torch.tensor(2.0)).sum(); z.backward()
z = D.Beta(forward(x).exp(), {n}).entropy().sum(); z.backward()|z = D.Laplace(forward(x), {n}).rsample()
z = D.Independent(D.Normal(forward(x), {n}), 1).log_prob(forward(x).detach() * 0).mean(); z.backward()
z = D.TransformedDistribution(D.Normal(forward(x), {n}), [D.TanhTransform()]).rsample(); z.sum().backward()
z = D.MixtureSameFamily(D.Categorical(logits=forward(x)), D.Normal(forward(x), {n})).log_prob(torch.tensor({n})).sum()
z = D.RelaxedOneHotCategorical(torch.tensor({n}), logits=forward(x)).rsample()
z = D.Dirichlet(forward(x).exp()).rsample()
z = D.StudentT({n}, forward(x)).log_prob(torch.tensor({n})).mean(); z.backward()
rows = data.TensorDataset(x, torch.arange(len(x))); n = data.random_split(rows, [1, len(x) - 1])
said = [[*map(str, a)] for a in data.DataLoader(n[1], {k}, shuffle={b}, generator=torch.Generator().manual_seed(2))]
load = data.DataLoader(rows, batch_sampler=data.BatchSampler(data.RandomSampler(rows), 2, {b}))
z = torch.cat([forward(a) for a, i in load])
load = data.DataLoader(rows, {k}, sampler=data.WeightedRandomSampler([1, 2], {k}))
z = torch.stack([i for a, i in data.ConcatDataset([rows, data.Subset(rows, [0])])])
load = data.DataLoader([{'a': a, 'n': i} for i, a in enumerate(x)], {k}); z = torch.cat([a['n'] for a in load])
z = torch.stack([*data.DataLoader([*x.detach()], {k}, collate_fn=lambda parts: torch.stack(parts).mean(0))])
z = rnn.pad_sequence([*x.flatten(1)], True, {n})|z = torch.jit.trace(model, x, check_trace=False)(x).detach()
z = torch.nn.utils.fuse_conv_bn_eval({j}.eval(), {l}.eval())(x)
z = torch.nn.utils.skip_init(torch.nn.Linear, 2, 2).weight * 0
said = torch.nn.utils.parameters_to_vector(model.buffers())|with torch.no_grad(): {l}.weight.normal_(0, {n})
with torch.no_grad(): {l}.weight[0] = {n}
with torch.no_grad(): {l}.weight.div_({l}.weight.norm(dim=0, keepdim=True).clamp(min=1))
{l}.weight = torch.nn.Parameter({l}.weight.detach().clone() * {n})|{l}.weight.data = {l}.weight.data.clone()
{l}.weight.grad.zero_()|{l}.weight.grad = {l}.weight.detach() * 0.1|x.grad = None
x = x.detach().clone().requires_grad_({b})|{l}._forward_hooks.clear()
h = {l}.register_forward_hook(lambda m, a, k, r: r, with_kwargs=True, always_call=True); h.remove()
torch.nn.utils.clip_grad_norm_([p for p in ps() if p.ndim > 1], {n}, foreach={b})
for p in ps(): p.grad = None if p.grad is None else p.grad + {n} * p.detach()
for p in ps(): torch.nn.init.normal_(p, 0, {n})|for p in ps(): p.register_hook(lambda g: g.clamp(-{n}, {n}))
for p in ps(): p.data.clamp_(-{n}, {n})
opt = torch.optim.SGD([{'params': [p], 'lr': {lr}} for p in ps() if p.requires_grad], momentum={w}, weight_decay={wd})
opt = torch.optim.Adam([{'params': model[0].parameters()}, {'params': model[1:].parameters(), 'lr': {lr}}], lr={lr})
"""
OPENING = """
import copy, io
def again(value): file = io.BytesIO(); torch.save(value, file); file.seek(0); return torch.load(file, weights_only=True)
def twice(ctx, x): ctx.by = 2; ctx.save_for_backward(x); return x * 2
class Twice(torch.autograd.Function): forward = twice; backward = lambda ctx, g: g * ctx.by
def by(ctx, inputs, output): ctx.by = 2; ctx.save_for_backward(*inputs)
class New(Twice): forward = lambda x: x * 2; setup_context = by; jvp = lambda c, t: t * 2; generate_vmap_rule = True
fwad = torch.autograd.forward_ad
D, data, call, graph = torch.distributions, torch.utils.data, torch.func.functional_call, torch.autograd.graph
def ones(t, n): return torch.eye(t.numel())[:n].to(t).reshape(n, *t.shape)
def flat(*all): return torch.cat([a.flatten() for a in all])
def halved(i, o): return tuple(None if g is None else g * 0.5 for g in i)
def ps(): return model.parameters()
def named(): return dict(model.named_parameters())
def total(x): return forward(x).square().sum()
def around(n): return [a for a, _ in n.next_functions if a]
def names(t): n = [t.grad_fn]; [n.append(b) for a in n if a and len(n) < 60 for b in around(a)]; return [*map(title, n)]
def title(node): return type(node).__name__
def lengths(x): return torch.arange(1, 1 + x.size(1)).clamp(max=len(x))
def later(n): return torch.ones(n, n).triu(1).bool()
class Own(torch.nn.Module): forward = lambda self, x: New.apply(x)
torch.nn._Own = Own  # an underscore: no public name of a module that others look at
"""
#: Modules of one's own, a paragraph each; {f} sizes at the end come in, and as many go out.
MODULES = """
class Scales(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.a = torch.nn.ParameterList([torch.ones(f), torch.nn.Parameter(torch.randn(f), requires_grad=False)])
        self.b = torch.nn.ParameterDict({'x': torch.randn(f), 'y': torch.randn(1)})
    def forward(self, x): return sum(x * p for p in self.a) + self.b['x'] * x.tanh() + self.b['y']

class Branches(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.by = torch.nn.ModuleDict({'a': torch.nn.Linear(f, f), 'b': torch.nn.Identity()})
        self.all = torch.nn.ModuleList([torch.nn.Linear(f, 3) for _ in range(2)]).append(torch.nn.Linear(3, f))
    def forward(self, x):
        for name, part in self.by.items(): x = part(x) + x if name in self.by else x
        return self.all[-1](sum(part(x) for part in self.all[:2]))

class Tied(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.one, self.two = torch.nn.Linear(f, f, bias=False), torch.nn.Linear(f, f)
        self.two.weight = self.one.weight
        self.register_buffer('mask', torch.ones(f, f).tril(), persistent=False)
    def forward(self, x):
        return self.two(self.one(x)) + torch.nn.functional.linear(x, self.one.weight.t() * self.mask)

class Mean(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.register_buffer('mean', torch.zeros(f)); self.register_buffer('count', torch.tensor(0))
    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.count += 1
                self.mean.lerp_(x.detach().flatten(0, -2).mean(0).to(self.mean.dtype), 0.5)
        return x - self.mean

class Steps(torch.nn.Module):
    def __init__(self, f, cell, every):
        super().__init__()
        self.cell, self.every = getattr(torch.nn, cell)(f, f), every
    def forward(self, x):
        h, out = None, []
        for step, part in enumerate(x.flatten(1, -2).unbind(1)):
            h = self.cell(part, h)
            if step % self.every == 1: h = tuple(a.detach() for a in h) if isinstance(h, tuple) else h.detach()
            out.append(h[0] if isinstance(h, tuple) else h)
        return torch.stack(out, 1).view(x.shape)

class Spectral(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(f // 2 + 1, 2))
    def forward(self, x):
        turned = torch.fft.rfft(x.double()) * torch.view_as_complex(self.w).to(torch.complex128)
        return torch.fft.irfft(turned, x.size(-1)).to(x)

class Turned(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(f, f, dtype=torch.cfloat))
    def forward(self, x):
        y = x.to(torch.cfloat) @ self.w
        return (y * y.conj()).real.to(x.dtype) + y.angle().to(x.dtype)

class Rounded(torch.nn.Module):
    def __init__(self, f): super().__init__(); self.s = torch.nn.Parameter(torch.ones(()))
    def forward(self, x): q = (x / self.s).round().clamp(-3, 3) * self.s; return x + (q - x).detach() + q * 0.1

class Book(torch.nn.Module):
    def __init__(self, f): super().__init__(); self.book = torch.nn.Embedding(5, f)
    def forward(self, x):
        with torch.no_grad(): near = torch.cdist(x.reshape(-1, x.size(-1)).float(), self.book.weight.float()).argmin(-1)
        q = self.book(near).view(x.shape)
        return x + (q - x).detach() + (q - x.detach()).square().mean()

class Experts(torch.nn.Module):
    def __init__(self, f, k):
        super().__init__()
        self.gate, self.k = torch.nn.Linear(f, 3), k
        self.all = torch.nn.ModuleList(torch.nn.Linear(f, f) for _ in '123')
    def forward(self, x):
        rows = x.reshape(-1, x.size(-1)); weight, which = self.gate(rows).softmax(-1).topk(self.k, -1)
        out = torch.zeros_like(rows)
        for i, expert in enumerate(self.all):
            row, slot = torch.where(which == i)
            if len(row): out = out.index_add(0, row, expert(rows[row]) * weight[row, slot, None])
        return out.view(x.shape)

class Low(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.base = torch.nn.Linear(f, f).requires_grad_(False)
        self.a, self.b = torch.nn.Parameter(torch.randn(f, 2)), torch.nn.Parameter(torch.zeros(2, f))
    def forward(self, x): return self.base(x) + x @ self.a @ self.b * 2

class Coupled(torch.nn.Module):
    def __init__(self, f): super().__init__(); self.net = torch.nn.Linear(f - f // 2, 2 * (f // 2))
    def forward(self, x):
        a, b = x.tensor_split([x.size(-1) // 2], -1)
        s, t = self.net(b).chunk(2, -1)
        return torch.cat([a * s.tanh().exp() + t, b], -1)

class Rotary(torch.nn.Module):
    def __init__(self, f): super().__init__(); self.q = torch.nn.Linear(f, 2 * f)
    def forward(self, x):
        q = self.q(x).unflatten(-1, (-1, 2))
        angle = torch.arange(q.size(-2), dtype=q.dtype)[:, None] * 0.1
        a, b = q.unbind(-1)
        return torch.stack([a * angle.cos()[:, 0] - b * angle.sin()[:, 0], a * angle.sin()[:, 0] + b], -1)[..., 0]

class Both(torch.autograd.Function):
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        whole = x.sign(); ctx.mark_non_differentiable(whole)
        return x * y, whole, x + 1
    def backward(ctx, a, b, c):
        x, y = ctx.saved_tensors
        return a * y + c if ctx.needs_input_grad[0] else None, a * x if ctx.needs_input_grad[1] else None
class Paired(torch.nn.Module):
    def __init__(self, f): super().__init__(); self.w = torch.nn.Parameter(torch.randn(f))
    def forward(self, x): a, b, c = Both.apply(x, self.w.to(x.dtype)); return a * b.abs() + c.tanh()

class Once(torch.autograd.Function):
    def forward(ctx, x, n): ctx.n = n; ctx.set_materialize_grads(False); return x * n, x.sin()
    @torch.autograd.function.once_differentiable
    def backward(ctx, a, b): return (0 if a is None else a * ctx.n) + (0 if b is None else b * 2), None

class Seen(torch.nn.Module):
    def forward(self, x):
        self.last = x * 2
        if self.last.requires_grad: self.last.retain_grad()
        return self.last.sin()

class Extra(torch.nn.Linear):
    def __init__(self, f): super().__init__(f, f); self.n = 2.0
    def get_extra_state(self): return {'n': self.n}
    def set_extra_state(self, state): self.n = state['n'] + 1
    def forward(self, x): return super().forward(x) * self.n
"""
#: Such modules, where a layer may stand.
OWN_LAYERS = """
_Scales({f})|_Branches({f})|_Tied({f})|_Mean({f})|_Steps({f}, 'LSTMCell', 9)$torch.stack([{l}({h})], 0)[0]
_Steps({f}, 'GRUCell', {k})|_Steps({f}, 'RNNCell', 9)|_Spectral({f})|_Turned({f})|_Rounded({f})|_Book({f})
_Experts({f}, {k})|_Low({f})|_Coupled({f})|_Rotary({f})|_Paired({f})|_Seen()|_Extra({f})|$Once.apply({h}, {n})[0]
$Once.apply({h}, {n})[1]|$Both.apply({h}, {h})[2]|$sum(Once.apply({h}, 2))
"""
