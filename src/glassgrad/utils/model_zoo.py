"""The ``torch.utils.model_zoo`` namespace: names that ``torch.hub``, on the roof, has too."""

from ..ground.later import later

__getattr__, __dir__ = later(globals(), "torch.utils.model_zoo", {
    "..hub": "load_url=load_state_dict_from_url _download_url_to_file=download_url_to_file tqdm",
})  # fmt: skip
