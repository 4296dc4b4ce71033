"""The ``torch.utils.model_zoo`` namespace: the older name of loading weights by their address."""

from __future__ import annotations

from typing import Any


def load_url(url: str, *args: Any, **kwargs: Any) -> Any:
    """The file of this address out of ``torch.hub.get_dir()``; see ``torch.hub.load_state_dict_from_url``."""
    from ..hub import load_state_dict_from_url  # hub stands on the roof

    return load_state_dict_from_url(url, *args, **kwargs)


def __getattr__(name: str) -> Any:
    if name in ("tqdm", "_download_url_to_file"):
        from .. import hub  # on the roof

        return hub.download_url_to_file if name.startswith("_") else hub.tqdm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
