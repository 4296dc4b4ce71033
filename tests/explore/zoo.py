"""Models of other people's for the explorer's proof: built from settings, with random weights, nothing downloaded."""

from __future__ import annotations

import inspect
import itertools
import signal
import warnings
from contextlib import contextmanager

MOST = 4_000_000  # parameters of a model that is tried


@contextmanager
def within(seconds):
    """A block that may take so long; TimeoutError after that."""

    def late(*_):
        raise TimeoutError(f"took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def models(kind, torch):
    """Pairs of a name and what builds the model and its loss, of one library."""
    warnings.simplefilter("ignore")
    return {"transformers": transformers, "timm": timm, "geometric": geometric}[kind](torch)


def loss_of(results, torch):
    """A loss of everything floating that a model gave: weighed at random, so that norms do not make it constant."""
    generator = torch.Generator().manual_seed(7)
    total, seen = 0, set()
    waiting = [results]
    while waiting:
        value = waiting.pop()
        if isinstance(value, torch.Tensor):
            if value.is_floating_point() and value.requires_grad and id(value) not in seen and value.numel():
                seen.add(id(value))
                weight = torch.rand(value.shape, generator=generator, dtype=torch.float64).to(value.dtype)
                total = total + (value * weight).masked_fill(value.isinf(), 0.0).mean()
        elif isinstance(value, dict) or hasattr(value, "to_tuple"):
            waiting += list(value.values())
        elif isinstance(value, (list, tuple)):
            waiting += value
    return total


def sized(build, torch):
    """The model that ``build`` makes, if it is small; tried without memory first."""
    with torch.device("meta"):
        count = sum(p.numel() for p in build().parameters())
    if count > MOST:
        raise ValueError(f"too large: {count:,} parameters")
    return build()


# -- transformers -----------------------------------------------------------------------------------------------------

#: Settings by the names that configurations give them, small.
SMALL = {
    "hidden_size": 32, "d_model": 32, "n_embd": 32, "embed_dim": 32, "dim": 32, "emb_dim": 32, "embedding_size": 32,
    "num_hidden_layers": 2, "n_layer": 2, "num_layers": 2, "n_layers": 2, "encoder_layers": 2, "decoder_layers": 2,
    "num_decoder_layers": 2, "num_encoder_layers": 2, "num_attention_heads": 4, "n_head": 4, "n_heads": 4,
    "num_heads": 4, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 37, "d_ff": 37, "ffn_dim": 37, "encoder_ffn_dim": 37, "decoder_ffn_dim": 37, "d_kv": 8,
    "n_inner": 37, "head_dim": 8, "vocab_size": 99, "max_position_embeddings": 64, "n_positions": 64, "image_size": 32,
    "patch_size": 8, "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16, "num_experts_per_tok": 2, "q_lora_rank": 8, "kv_lora_rank": 8,
    "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8, "state_size": 8, "time_step_rank": 4,
    "vision_config": None, "text_config": None, "embedding_dim": 32, "ffn_hidden_size": 37, "hidden_dim": 37,
    "rotary_dim": 4, "num_mel_bins": 16, "projection_dim": 32, "attention_dim": 32, "max_source_positions": 32,
    "max_target_positions": 32, "conv_dim": (32, 32), "conv_stride": (5, 2), "conv_kernel": (10, 3),
    "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2,
    "codevector_dim": 32, "bottleneck_size": 16, "type_vocab_size": 2, "relative_attention_num_buckets": 8,
    "n_group": 1, "topk_group": 1, "first_k_dense_replace": 1, "attention_window": 4, "mamba_d_state": 8,
    "hidden_sizes": None, "depths": None, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
    "decoder_start_token_id": 1,
}  # fmt: skip


def shrink(config):
    """Make what a configuration sets small, as far as its names are known."""
    for name, value in SMALL.items():
        old = getattr(config, name, None)
        if old is None or isinstance(old, bool):
            continue
        if value is None:
            if name.endswith("config"):
                shrink(old)
            elif name == "hidden_sizes" and isinstance(old, (list, tuple)):
                setattr(config, name, type(old)(16 * 2 ** min(i, 2) for i in range(len(old))))
            elif name == "depths" and isinstance(old, (list, tuple)):
                setattr(config, name, type(old)(1 for _ in old))
        elif isinstance(old, type(value)) or (isinstance(old, int) and isinstance(value, int)):
            try:
                setattr(config, name, value)
            except Exception:  # a name that only reads another
                continue
    for name in ("layer_types", "mlp_layer_types"):
        kinds = getattr(config, name, None)
        if isinstance(kinds, (list, tuple)):
            setattr(config, name, list(kinds[:1]) + list(kinds[-1:]))
    config.use_cache = False
    return config


def transformers(torch):
    """One model of each architecture that builds from its configuration alone."""
    from transformers import AutoModel
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES
    from transformers.utils import logging

    logging.set_verbosity_error()
    liked = ["gpt2", "bert", "t5", "vit", "llama", "bart", "clip", "wav2vec2", "mamba", "resnet"]
    for kind in [*liked, *(name for name in CONFIG_MAPPING_NAMES if name not in liked)]:

        def build(kind=kind):
            config = shrink(CONFIG_MAPPING[kind]())
            model = sized(lambda: AutoModel.from_config(config), torch).double().train()
            call = with_inputs(model, config, torch)
            return model, lambda: loss_of(call(), torch)

        yield f"transformers {kind}", build


def with_inputs(model, config, torch):
    """The call of a model with inputs made by the names of its arguments."""
    wanted = inspect.signature(model.forward).parameters
    main = getattr(model, "main_input_name", "input_ids")
    size = getattr(config, "image_size", None) or getattr(getattr(config, "vision_config", None), "image_size", 32)
    size = size[0] if isinstance(size, (list, tuple)) else size
    channels = getattr(config, "num_channels", None) or 3
    ids = torch.randint(3, 90, (2, 8))
    inputs = {}
    if main == "pixel_values" or "pixel_values" in wanted:
        inputs["pixel_values"] = torch.randn(2, channels, size, size, dtype=torch.float64)
    if main in ("input_values", "input_features"):
        shape = (2, 400) if main == "input_values" else (2, getattr(config, "num_mel_bins", 16), 64)
        inputs[main] = torch.randn(*shape, dtype=torch.float64)
    if "input_ids" in wanted:
        inputs["input_ids"] = ids
    if "decoder_input_ids" in wanted:
        inputs["decoder_input_ids"] = ids
    if "bbox" in wanted:
        inputs["bbox"] = torch.randint(0, 30, (2, 8, 2)).repeat(1, 1, 2).sort(-1).values
    if not inputs:
        raise ValueError(f"no inputs known for {main}")
    return lambda: model(**inputs)


# -- timm -------------------------------------------------------------------------------------------------------------

MARKS = (
    "test_",
    "atto",
    "femto",
    "pico",
    "nano",
    "_xxs",
    "_xs",
    "tiny",
    "_xxt",
    "_035",
    "_050",
    "_s0",
    "_b0",
    "_t",
    "_18",
)


def timm(torch):
    """The smallest of each family of timm's models."""
    import timm as library

    families = {}
    for name in library.list_models():
        module = library.models.model_entrypoint(name).__module__
        families.setdefault(module, []).append(name)

    def rank(name):
        return next((i for i, mark in enumerate(MARKS) if mark in name), len(MARKS)), len(name)

    for names in families.values():
        for name in sorted(names, key=rank)[:2]:

            def build(name=name):
                def make():
                    return library.create_model(name, pretrained=False, num_classes=5)

                with torch.device("meta"):
                    count = sum(p.numel() for p in make().parameters())
                if count > 2 * MOST:
                    raise ValueError(f"too large: {count:,} parameters")
                model = make().double().train()
                _, height, width = (
                    model.default_cfg.get("input_size", (3, 64, 64)) if model.default_cfg else (3, 64, 64)
                )
                if not model.default_cfg.get("fixed_input_size"):
                    height = width = min(height, 96)
                x = torch.randn(2, 3, height, width, dtype=torch.float64)
                return model, lambda: loss_of(model(x), torch)

            yield f"timm {name}", build


# -- torch_geometric --------------------------------------------------------------------------------------------------


def geometric(torch):
    """Layers and models of torch_geometric that need nothing compiled."""
    import torch_geometric.nn as library

    edges = torch.tensor([[0, 1, 2, 3, 4, 5, 0, 2, 3], [1, 2, 3, 4, 5, 0, 2, 0, 1]])
    x = torch.randn(6, 8, dtype=torch.float64)
    network = torch.nn.Sequential
    tries = [
        lambda kind: kind(8, 8),
        lambda kind: kind(8, 8, heads=2),
        lambda kind: kind(8, 8, K=2),
        lambda kind: kind(8, 8, num_layers=2),
        lambda kind: kind(8, 16, num_layers=2, out_channels=4),
        lambda kind: kind(8, 8, num_relations=2, num_bases=2),
        lambda kind: kind(8, 8, dim=3, kernel_size=2),
        lambda kind: kind(8, num_layers=2),
        lambda kind: kind(network(torch.nn.Linear(8, 8), torch.nn.ReLU())),
        lambda kind: kind(network(torch.nn.Linear(16, 8), torch.nn.ReLU())),
        lambda kind: kind(8),
        lambda kind: kind(),
        lambda kind: kind(2, 0.1),
        lambda kind: kind(8, 0.5),
    ]
    more = [
        (), (torch.zeros(9, dtype=torch.long),), (torch.rand(9, dtype=torch.float64),),
        (torch.randn(9, 3, dtype=torch.float64),), (torch.randn(9, 8, dtype=torch.float64),),
    ]  # fmt: skip

    for name in [*library.conv.__all__, *library.models.__all__, *library.norm.__all__, *library.aggr.__all__]:

        def build(name=name):
            kind = getattr(library, name)
            errors = []
            for make, rest in itertools.product(tries, more):
                for layout in ("edges", "batch"):
                    try:
                        torch.manual_seed(0)
                        model = make(kind).double().train()
                        batch = torch.tensor([0, 0, 0, 1, 1, 1])
                        args = (
                            (x.clone().requires_grad_(), edges, *rest)
                            if layout == "edges"
                            else (x.clone().requires_grad_(), batch)
                        )
                        if not list(model.parameters()):
                            raise ValueError("no parameters")
                        loss = loss_of(model(*args), torch)
                        if loss.requires_grad:
                            return model, lambda: loss_of(model(*args), torch)  # noqa: B023
                    except Exception as error:  # settings of another layer
                        errors.append(error)
            raise errors[-1]

        yield f"geometric {name}", build
