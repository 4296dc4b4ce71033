"""Images and signals at other resolutions: interpolation, sampling at grids, pixels shuffled."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": (
        "GRID_SAMPLE_INTERPOLATION_MODES GRID_SAMPLE_PADDING_MODES affine_grid channel_shuffle grid_sample interpolate "
        "native_channel_shuffle pixel_shuffle pixel_unshuffle upsample upsample_bilinear upsample_nearest"
    ),
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "channelshuffle": "ChannelShuffle",
        "pixelshuffle": "PixelShuffle PixelUnshuffle",
        "upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    },
}
