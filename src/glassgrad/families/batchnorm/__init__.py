"""Normalisation over the batch, with running statistics; over each sample."""

#: What ``torch.nn.functional`` has of this family, by file.
FUNCTIONAL = {
    "functions": "batch_norm=functional_batch_norm instance_norm=functional_instance_norm",
}

#: What PyTorch keeps in the files of ``torch.nn.modules``, by the file here.
LAYERS = {
    "layers": {
        "batchnorm": (
            "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d SyncBatchNorm"
        ),
        "instancenorm": (
            "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d"
        ),
    },
}
