"""The earlier home of ``functional_call``, which is in ``func`` now."""

from __future__ import annotations

import warnings
from typing import Any

from ...func.module_state import functional_call as _call
from ...func.module_state import replacing as _reparametrize_module


def functional_call(
    module: Any, parameters_and_buffers: dict[str, Any], args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Deprecated: :func:`glassgrad.func.functional_call`."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


__all__ = ["_reparametrize_module", "functional_call"]
