"""Windows slid over signals, images and volumes, each reduced to one number; and the way back."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": (
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
        "adaptive_max_pool1d=functional_adaptive_max_pool1d adaptive_max_pool1d_with_indices adaptive_max_pool2d "
        "adaptive_max_pool2d_with_indices adaptive_max_pool3d adaptive_max_pool3d_with_indices avg_pool1d "
        "avg_pool2d avg_pool3d lp_pool1d lp_pool2d lp_pool3d max_pool1d=functional_max_pool1d "
        "max_pool1d_with_indices=functional_max_pool1d_with_indices max_pool2d=functional_max_pool2d "
        "max_pool2d_with_indices max_pool3d=functional_max_pool3d max_pool3d_with_indices"
    ),
    "unpooling": (
        "fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d "
        "fractional_max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d"
    ),
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "pooling": (
            "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d "
            "AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d LPPool1d "
            "LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d"
        ),
    },
}
