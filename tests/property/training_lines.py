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
    2: NORMS.replace("InstanceNorm{r}d({c}, {e}, 0.1, {b}, {b})|", "") + """
Linear({f}, {o}, {b})|LazyLinear({o})|Unflatten(1, (1, -1))|Unflatten(1, ({c}, 1, 1))|Linear({f}, {f})
Linear({f}, {f})${l}({l}({h}).relu())
Bilinear({f}, {f}, {o}, {b})${l}({h}, {h})|LSTMCell({f}, {o}, {b})${l}({h})[0]|GRUCell({f}, {o})|RNNCell({f}, 3)
""",
    3: NORMS + LINES + """
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
    4: NORMS + LINES + """
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
parametrizations.spectral_norm({l})|parametrizations.orthogonal({l})
prune.l1_unstructured({l}, 'weight', 0.3)|prune.random_unstructured({l}, 'weight', {k})
prune.ln_structured({l}, 'weight', 1, {n}, 0)|prune.remove({l}, 'weight')
torch.nn.init.xavier_uniform_({l}.weight)|torch.nn.init.kaiming_normal_({l}.weight, 0.1)|{l}.reset_parameters()
torch.nn.init.orthogonal_({l}.weight)|torch.nn.init.trunc_normal_({l}.weight, 0.0, 0.5)|{l}.extra_repr()
torch.nn.init.sparse_({l}.weight, 0.5)|torch.nn.init.dirac_({l}.weight)|torch.nn.init.kaiming_uniform_({l}.weight)
torch.nn.init.eye_({l}.weight)|torch.nn.init.xavier_normal_({l}.weight, {n})|torch.nn.init.constant_({l}.bias, {n})
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
opt = torch.optim.SGD([{'params': p, 'lr': 0.1} for p in model.parameters()], momentum={w}, foreach={b})
opt = torch.optim.AdamW(model.named_parameters(), amsgrad={b}); said = [g['param_names'] for g in opt.param_groups]
torch.nn.utils.clip_grads_with_norm_(model.parameters(), {n}, torch.tensor({n}))|model.apply(lambda m: m.train({b}))
z = torch.utils.checkpoint.checkpoint(forward, x, use_reentrant=True)|model.share_memory()|model.requires_grad_({b})
n = torch.nn.utils.clip_grad_norm_(model.parameters(), {n}, float('inf'), error_if_nonfinite={b}, foreach={b})
said = [type(m).__name__ for m in model.modules()]|model.to(torch.float32)|model.bfloat16()
said = [tuple(p.shape) for p in opt.state]
{l}.weight.grad = None|{l}.register_buffer('own', torch.ones(2))|{l}.register_parameter('bias', None)
model.load_state_dict({k: v * 0.5 for k, v in model.state_dict().items()}, assign={b})
said = model.load_state_dict({}, False)
opt.add_param_group({'params': [torch.nn.Parameter(torch.ones(2))], 'lr': 0.3})|opt.param_groups[0]['lr'] = 0.05
mean = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
mean = torch.optim.swa_utils.AveragedModel(model)|mean.update_parameters(model)
model.to(memory_format=torch.channels_last)|n = torch.nn.utils.clip_grad_norm_(model.parameters(), {n}, {n})
torch.nn.utils.clip_grad_value_(model.parameters(), 0.01)
n = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])|{l}.weight.data.mul_(0.9)
z = torch.func.functional_call(model, {k: v * 2 for k, v in model.named_parameters()}, (x,))
z = torch.func.vmap(forward, randomness='same')(x.unsqueeze(0))|z = torch.func.jvp(forward, (x,), (x,))[1]
z = torch.func.vjp(forward, x)[1](torch.ones_like(forward(x)))[0]|z = torch.autograd.functional.jvp(forward, x, x)[1]
z = torch.func.grad(lambda p: torch.func.functional_call(model, p, (x,)).sum())(dict(model.named_parameters()))
z = torch.cat([g.flatten() for g in z.values()])
z = torch.utils.checkpoint.checkpoint(forward, x, use_reentrant=False)|z = copy.deepcopy(model)(x)
z = torch.autograd.grad(forward(x).sum(), list(model.parameters()), allow_unused=True)[0]|z = model.half()(x.half())
with torch.autocast('cpu', torch.bfloat16): z = forward(x)
with torch.no_grad(): z = forward(x)
with torch.inference_mode(): z = forward(x).clone()
with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t): z = forward(x)
with torch.autograd.graph.save_on_cpu(): z = forward(x)
with torch.autograd.set_detect_anomaly(True): forward(x).sum().backward()
z = torch.utils.checkpoint.checkpoint_sequential(model, 1, x, use_reentrant={b})|z = torch.func.jacrev(forward)(x)
z = torch.func.hessian(lambda x: forward(x).square().sum())(x)|z = torch.func.jacfwd(lambda x: forward(x).sum())(x)
z = torch.func.vmap(torch.func.grad(lambda x: forward(x[None]).sum()))(x)
z = torch.func.linearize(forward, x)[1](x)|z = torch.autograd.functional.vjp(forward, x, forward(x).detach())[1]
z = torch.fx.symbolic_trace(model)(x)|z = again(forward(x).detach())
z = torch.cat([a[0] for a in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), {k}, shuffle={b})])
for a, in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), 2, drop_last={b}): z = forward(a)
parametrize.register_parametrization({l}, 'weight', torch.nn.Softplus())|z = Twice.apply(forward(x))
z = torch.nn.utils.stateless.functional_call(model, dict(model.named_parameters()), (x,))
g = torch.autograd.grad(forward(x).square().sum(), [*model.parameters()], create_graph=True, allow_unused=True)
sum(p.square().sum() for p in g if p is not None and p.requires_grad).backward()
fast = {k: v * 0.9 + {n} for k, v in model.named_parameters()}; z = torch.func.functional_call(model, fast, (x,))
z = torch.distributions.Normal(forward(x), {n}).log_prob(forward(x).detach() + {n}).sum(); z.backward()
d = torch.distributions; z = d.kl_divergence(d.Normal(forward(x), {n}), d.Normal(0.0, 1.0)).sum()
d = torch.distributions.Categorical(logits=forward(x)); (d.log_prob(d.sample()).mean() + d.entropy().sum()).backward()
d = torch.distributions.Bernoulli(logits=forward(x)); z = d.log_prob(d.sample()).mean(); z.backward()
z = torch.autograd.functional.hessian(lambda x: forward(x).square().sum(), x)
with torch.no_grad(): [p.add_(p.grad, alpha=-{lr}) for p in model.parameters() if p.grad is not None]
with torch.no_grad(): [p.copy_(p.lerp(p * 0, 0.1)) for p in model.parameters()]
"""
OPENING = """
import copy, io
def again(value): file = io.BytesIO(); torch.save(value, file); file.seek(0); return torch.load(file, weights_only=True)
def twice(ctx, x): ctx.by = 2; ctx.save_for_backward(x); return x * 2
class Twice(torch.autograd.Function): forward = twice; backward = lambda ctx, g: g * ctx.by
def by(ctx, inputs, output): ctx.by = 2; ctx.save_for_backward(*inputs)
class New(Twice): forward = lambda x: x * 2; setup_context = by; jvp = lambda c, t: t * 2; generate_vmap_rule = True
def lengths(x): return torch.arange(1, 1 + x.size(1)).clamp(max=len(x))
def later(n): return torch.ones(n, n).triu(1).bool()
class Own(torch.nn.Module): forward = lambda self, x: New.apply(x)
torch.nn._Own = Own  # an underscore: no public name of a module that others look at
"""
