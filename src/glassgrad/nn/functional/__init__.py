"""The ``torch.nn.functional`` namespace: it re-exports, and holds no logic of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ground.later import later

if TYPE_CHECKING:  # the same for type checkers, which read no strings
    from ...ops.composite.activation import (
        celu,
        celu_,
        elu,
        elu_,
        gelu,
        glu,
        hardshrink,
        hardsigmoid,
        hardswish,
        hardtanh,
        hardtanh_,
        leaky_relu,
        leaky_relu_,
        logsigmoid,
        mish,
        prelu,
        relu,
        relu6,
        relu_,
        rrelu,
        rrelu_,
        selu,
        selu_,
        sigmoid,
        silu,
        softplus,
        softshrink,
        softsign,
        tanh,
        tanhshrink,
        threshold,
        threshold_,
    )
    from ...ops.composite.convolution import (
        conv1d,
        conv2d,
        conv3d,
        conv_tbc,
        conv_transpose1d,
        conv_transpose2d,
        conv_transpose3d,
    )
    from ...ops.composite.loss import one_hot
    from ...ops.composite.matrix import linear
    from ...ops.composite.norm import cosine_similarity, pairwise_distance, pdist
    from ...ops.composite.pad import pad
    from ...ops.composite.resample import channel_shuffle, native_channel_shuffle, pixel_shuffle, pixel_unshuffle
    from .attention import multi_head_attention_forward, scaled_dot_product_attention
    from .columns import fold, unfold
    from .drop import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
    from .local_response import local_response_norm
    from .lookup import bilinear, embedding, embedding_bag
    from .loss import (
        binary_cross_entropy,
        binary_cross_entropy_with_logits,
        cross_entropy,
        ctc_loss,
        huber_loss,
        kl_div,
        l1_loss,
        linear_cross_entropy,
        mse_loss,
        nll_loss,
        smooth_l1_loss,
        soft_margin_loss,
    )
    from .margin import (
        cosine_embedding_loss,
        gaussian_nll_loss,
        hinge_embedding_loss,
        margin_ranking_loss,
        multi_margin_loss,
        multilabel_margin_loss,
        multilabel_soft_margin_loss,
        poisson_nll_loss,
        triplet_margin_loss,
        triplet_margin_with_distance_loss,
    )
    from .normalization import batch_norm, group_norm, instance_norm, layer_norm, normalize, rms_norm
    from .pooling import (
        adaptive_avg_pool1d,
        adaptive_avg_pool2d,
        adaptive_avg_pool3d,
        adaptive_max_pool1d,
        adaptive_max_pool1d_with_indices,
        adaptive_max_pool2d,
        adaptive_max_pool2d_with_indices,
        adaptive_max_pool3d,
        adaptive_max_pool3d_with_indices,
        avg_pool1d,
        avg_pool2d,
        avg_pool3d,
        fractional_max_pool2d,
        fractional_max_pool2d_with_indices,
        fractional_max_pool3d,
        fractional_max_pool3d_with_indices,
        lp_pool1d,
        lp_pool2d,
        lp_pool3d,
        max_pool1d,
        max_pool1d_with_indices,
        max_pool2d,
        max_pool2d_with_indices,
        max_pool3d,
        max_pool3d_with_indices,
        max_unpool1d,
        max_unpool2d,
        max_unpool3d,
    )
    from .resample import (
        GRID_SAMPLE_INTERPOLATION_MODES,
        GRID_SAMPLE_PADDING_MODES,
        affine_grid,
        grid_sample,
        interpolate,
        upsample,
        upsample_bilinear,
        upsample_nearest,
    )
    from .soft import gumbel_softmax, log_softmax, softmax, softmin

__getattr__, __dir__ = later(globals(), "torch.nn.functional", {
    "...ops.composite.activation":
        "celu celu_ elu elu_ gelu glu hardshrink hardsigmoid hardswish hardtanh hardtanh_ leaky_relu "
        "leaky_relu_ logsigmoid mish prelu relu relu6 relu_ rrelu rrelu_ selu selu_ sigmoid silu softplus "
        "softshrink softsign tanh tanhshrink threshold threshold_",
    "...ops.composite.convolution":
        "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d",
    "...ops.composite.loss": "one_hot",
    "...ops.composite.matrix": "linear",
    "...ops.composite.norm": "cosine_similarity pairwise_distance pdist",
    "...ops.composite.pad": "pad",
    "...ops.composite.resample": "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle",
    ".attention": "multi_head_attention_forward scaled_dot_product_attention",
    ".columns": "fold unfold",
    ".drop": "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout",
    ".local_response": "local_response_norm",
    ".lookup": "bilinear embedding embedding_bag",
    ".loss":
        "binary_cross_entropy binary_cross_entropy_with_logits cross_entropy ctc_loss huber_loss kl_div "
        "l1_loss linear_cross_entropy mse_loss nll_loss smooth_l1_loss soft_margin_loss",
    ".margin":
        "cosine_embedding_loss gaussian_nll_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss "
        "multilabel_margin_loss multilabel_soft_margin_loss poisson_nll_loss triplet_margin_loss "
        "triplet_margin_with_distance_loss",
    ".normalization": "batch_norm group_norm instance_norm layer_norm normalize rms_norm",
    ".pooling":
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
        "adaptive_max_pool1d_with_indices adaptive_max_pool2d adaptive_max_pool2d_with_indices "
        "adaptive_max_pool3d adaptive_max_pool3d_with_indices avg_pool1d avg_pool2d avg_pool3d "
        "fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
        "fractional_max_pool3d_with_indices lp_pool1d lp_pool2d lp_pool3d max_pool1d max_pool1d_with_indices "
        "max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_unpool1d max_unpool2d "
        "max_unpool3d",
    ".resample":
        "GRID_SAMPLE_INTERPOLATION_MODES GRID_SAMPLE_PADDING_MODES affine_grid grid_sample interpolate "
        "upsample upsample_bilinear upsample_nearest",
    ".soft": "gumbel_softmax log_softmax softmax softmin",
})  # fmt: skip

__all__ = [
    "GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES",
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "affine_grid", "alpha_dropout", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "celu", "celu_", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "ctc_loss",
    "dropout", "dropout1d", "dropout2d", "dropout3d", "elu", "elu_", "embedding", "embedding_bag",
    "feature_alpha_dropout", "fold", "fractional_max_pool2d", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "gaussian_nll_loss", "gelu", "glu", "grid_sample",
    "group_norm", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_",
    "hinge_embedding_loss", "huber_loss", "instance_norm", "interpolate", "kl_div", "l1_loss", "layer_norm",
    "leaky_relu", "leaky_relu_", "linear", "linear_cross_entropy", "local_response_norm", "log_softmax", "logsigmoid",
    "lp_pool1d", "lp_pool2d", "lp_pool3d", "margin_ranking_loss", "max_pool1d", "max_pool1d_with_indices", "max_pool2d",
    "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d",
    "mish", "mse_loss", "multi_head_attention_forward", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "native_channel_shuffle", "nll_loss", "normalize", "one_hot", "pad",
    "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "prelu", "relu", "relu6",
    "relu_", "rms_norm", "rrelu", "rrelu_", "scaled_dot_product_attention", "selu", "selu_", "sigmoid", "silu",
    "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh",
    "tanhshrink", "threshold", "threshold_", "triplet_margin_loss", "triplet_margin_with_distance_loss", "unfold",
    "upsample", "upsample_bilinear", "upsample_nearest",
]  # fmt: skip
