"""Losses: of classes, of numbers, of margins between scores, of unaligned sequences."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "classes": "cross_entropy linear_cross_entropy nll_loss",
    "functions": (
        "binary_cross_entropy binary_cross_entropy_with_logits=functional_binary_cross_entropy_with_logits "
        "ctc_loss=functional_ctc_loss huber_loss kl_div=functional_kl_div l1_loss mse_loss smooth_l1_loss "
        "soft_margin_loss"
    ),
    "margins": (
        "cosine_embedding_loss=functional_cosine_embedding_loss gaussian_nll_loss "
        "hinge_embedding_loss=functional_hinge_embedding_loss margin_ranking_loss=functional_margin_ranking_loss "
        "multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss "
        "poisson_nll_loss=functional_poisson_nll_loss triplet_margin_loss=functional_triplet_margin_loss "
        "triplet_margin_with_distance_loss"
    ),
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "linear_cross_entropy_options": "LinearCrossEntropyOptions",
        "loss": (
            "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss "
            "HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss MarginRankingLoss "
            "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss "
            "SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss"
        ),
    },
}
