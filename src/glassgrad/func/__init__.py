"""Functions of functions and of modules. Source: https://docs.pytorch.org/docs/stable/func.html"""

from .levels import debug_unwrap
from .module_state import functional_call, replace_all_batch_norm_modules_, stack_module_state
from .per_sample import per_sample_backward, per_sample_norms
from .rearrange import rearrange
from .sparsity import hessian_diagonal, jacobian_diagonal, sparse_hessian, sparse_jacobian
from .taylor import jet
from .transforms import functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from .vmap import vmap

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "hessian_diagonal",
    "jacfwd", "jacobian_diagonal", "jacrev", "jet", "jvp", "linearize", "per_sample_backward", "per_sample_norms",
    "rearrange", "replace_all_batch_norm_modules_", "sparse_hessian", "sparse_jacobian", "stack_module_state", "vjp",
    "vmap",
]  # fmt: skip
