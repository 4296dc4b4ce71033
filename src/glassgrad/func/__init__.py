"""Functions of functions and of modules. Source: https://docs.pytorch.org/docs/stable/func.html"""

from .module_state import functional_call, stack_module_state

__all__ = ["functional_call", "stack_module_state"]
