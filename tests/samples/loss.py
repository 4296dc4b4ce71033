"""Samples of losses."""

from __future__ import annotations

from . import given, ints, positive, sample, t

F = "nn.functional."
_PROBABILITIES = {"low": 0.05, "high": 0.95}
_CLASSES = given([1, 3, 0])
_IGNORED = given([1, -100, 0])
_WEIGHTS = positive(4, grad=False)
_THREE = positive(3, grad=False)
_SIGNS = given([1.0, -1.0, 1.0], "float", grad=False)
_SIGNS2 = given([[1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, -1.0, -1.0], [1.0, 1.0, -1.0, 1.0]], "float", grad=False)
_LISTS = given([[0, 3, -1, 1], [2, -1, 0, 0], [1, 0, 3, 2]])


def prob(*shape: int, **how: object) -> object:
    """Probabilities."""
    return t(*shape, **_PROBABILITIES, **how)


ALL = ("mean", "sum", "none")

SAMPLES = [
    # squared and absolute errors
    *[sample(F + "mse_loss", t(2, 3), t(2, 3), reduction=r) for r in ALL],
    sample(F + "mse_loss", t(2, 3), t(2, 3, grad=False)),
    sample(F + "mse_loss", t(), t()),
    sample(F + "mse_loss", t(2, 3), t(3)),
    sample(F + "mse_loss", t(4, 3, layout="transposed"), t(4, 3)),
    sample(F + "mse_loss", t(2, 3), t(2, 3), weight=positive(2, 3, grad=False)),
    *[sample(F + "l1_loss", t(2, 3), t(2, 3), reduction=r) for r in ALL],
    sample(F + "l1_loss", t(2, 3), t(2, 3), weight=positive(2, 3, grad=False), reduction="none"),
    *[sample(F + "smooth_l1_loss", t(2, 3), t(2, 3), reduction=r) for r in ALL],
    sample(F + "smooth_l1_loss", t(2, 3), t(2, 3), beta=0.3),
    sample(F + "smooth_l1_loss", t(2, 3), t(2, 3), beta=0.0),
    sample(F + "smooth_l1_loss", t(2, 3), t(3)),
    *[sample(F + "huber_loss", t(2, 3), t(2, 3), reduction=r) for r in ALL],
    sample(F + "huber_loss", t(2, 3), t(2, 3), delta=0.4),
    sample(F + "huber_loss", t(2, 3), t(2, 3), weight=positive(2, 3, grad=False)),
    # classes
    *[sample(F + "cross_entropy", t(3, 4), _CLASSES, reduction=r) for r in ALL],
    sample(F + "cross_entropy", t(4), given(2)),
    sample(F + "cross_entropy", t(3, 4), _CLASSES, positive(4, grad=False)),
    sample(F + "cross_entropy", t(3, 4), _IGNORED, label="ignored"),
    sample(F + "cross_entropy", t(3, 4), _IGNORED, positive(4, grad=False), reduction="none", label="ignored,weights"),
    sample(F + "cross_entropy", t(3, 4), _CLASSES, ignore_index=3),
    *[sample(F + "cross_entropy", t(3, 4), _CLASSES, label_smoothing=0.1, reduction=r) for r in ALL],
    sample(F + "cross_entropy", t(3, 4), _IGNORED, _WEIGHTS, label_smoothing=0.1, label="smooth,ignored"),
    *[sample(F + "cross_entropy", t(3, 4), prob(3, 4), reduction=r, label=f"soft,{r}") for r in ALL],
    sample(F + "cross_entropy", t(4), prob(4), label="soft,1d"),
    sample(F + "cross_entropy", t(3, 4), prob(3, 4), positive(4, grad=False), label="soft,weights"),
    sample(F + "cross_entropy", t(3, 4), prob(3, 4), label_smoothing=0.2, label="soft,smooth"),
    *[sample(F + "cross_entropy", t(2, 3, 2, 2), ints(2, 2, 2), reduction=r) for r in ("mean", "none")],
    sample(F + "cross_entropy", t(2, 3, 2, 2), ints(2, 2, 2), positive(3, grad=False), label="maps,weights"),
    sample(F + "cross_entropy", t(2, 3, 2, 2), ints(2, 2, 2), label_smoothing=0.1),
    sample(F + "cross_entropy", t(2, 3, 2, 2), prob(2, 3, 2, 2), label="maps,soft"),
    *[sample(F + "nll_loss", t(3, 4), _CLASSES, reduction=r) for r in ALL],
    sample(F + "nll_loss", t(4), given(2)),
    sample(F + "nll_loss", t(3, 4), _IGNORED, positive(4, grad=False), label="ignored,weights"),
    sample(F + "nll_loss", t(2, 3, 4), ints(2, 4)),
    sample(F + "nll_loss", t(2, 3, 4), ints(2, 4), reduction="none"),
    sample(F + "nll_loss", t(2, 3, 2, 2), ints(2, 2, 2)),
    sample(F + "nll_loss", t(2, 3, 2, 2, 2), ints(2, 2, 2, 2), reduction="sum"),
    # probabilities
    *[sample(F + "binary_cross_entropy", prob(2, 3), prob(2, 3), reduction=r) for r in ALL],
    sample(F + "binary_cross_entropy", prob(2, 3), prob(2, 3, grad=False), positive(3, grad=False)),
    *[
        sample(F + "binary_cross_entropy_with_logits", t(2, 3), prob(2, 3), reduction=r)
        for r in ALL
    ],
    sample(
        F + "binary_cross_entropy_with_logits", t(2, 3), prob(2, 3), _THREE, pos_weight=positive(3, grad=False)
    ),
    *[
        sample(F + "kl_div", t(2, 3), prob(2, 3), reduction=r, second=False)
        for r in ("mean", "sum", "none", "batchmean")
    ],
    sample(F + "kl_div", t(2, 3), t(2, 3), reduction="batchmean", log_target=True),
    # pairs, margins, likelihoods
    *[sample(F + "cosine_embedding_loss", t(3, 4), t(3, 4), _SIGNS, reduction=r) for r in ("mean", "none")],
    sample(F + "cosine_embedding_loss", t(3, 4), t(3, 4), _SIGNS, 0.2),
    sample(F + "cosine_embedding_loss", t(4), t(4), given(1.0, "float", grad=False)),
    *[sample(F + "margin_ranking_loss", t(3), t(3), _SIGNS, 0.3, reduction=r) for r in ("mean", "sum")],
    *[sample(F + "hinge_embedding_loss", t(3, 4), _SIGNS2, reduction=r) for r in ("mean", "none")],
    sample(F + "hinge_embedding_loss", t(3), _SIGNS, margin=0.5),
    *[sample(F + "soft_margin_loss", t(3, 4), _SIGNS2, reduction=r) for r in ALL],
    *[sample(F + "multi_margin_loss", t(3, 4), _CLASSES, reduction=r, second=False) for r in ALL],
    sample(F + "multi_margin_loss", t(3, 4), _CLASSES, 2, 0.7, positive(4, grad=False), second=False),
    sample(F + "multi_margin_loss", t(4), given(2), second=False),
    *[sample(F + "multilabel_margin_loss", t(3, 4), _LISTS, reduction=r, second=False) for r in ("mean", "none")],
    sample(F + "multilabel_margin_loss", t(4), given([0, 3, -1, 1]), second=False),
    sample(F + "multilabel_soft_margin_loss", t(3, 4), prob(3, 4, grad=False)),
    sample(F + "multilabel_soft_margin_loss", t(3, 4), prob(3, 4, grad=False), reduction="none"),
    sample(F + "multilabel_soft_margin_loss", t(3, 4), prob(3, 4, grad=False), positive(4, grad=False)),
    *[sample(F + "triplet_margin_loss", t(3, 4), t(3, 4), t(3, 4), reduction=r) for r in ("mean", "none")],
    sample(F + "triplet_margin_loss", t(3, 4), t(3, 4), t(3, 4), 2.0, swap=True),
    sample(F + "triplet_margin_loss", t(3, 4), t(3, 4), t(3, 4), p=1, reduction="sum"),
    sample(F + "triplet_margin_with_distance_loss", t(3, 4), t(3, 4), t(3, 4), margin=2.0, swap=True),
    sample(F + "poisson_nll_loss", t(2, 3), positive(2, 3)),
    sample(F + "poisson_nll_loss", positive(2, 3), positive(2, 3), log_input=False, full=True),
    *[sample(F + "gaussian_nll_loss", t(2, 3), t(2, 3), positive(2, 3), reduction=r) for r in ("mean", "none")],
    sample(F + "gaussian_nll_loss", t(2, 3), t(2, 3), positive(2, 1), True),
    sample(F + "gaussian_nll_loss", t(2, 3), t(2, 3), 0.5),
]
