"""PyTorch's sentences for what goes wrong, one constant each, and the errors that are the package's own."""

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
    "saved tensors after calling backward."
)
STALE = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: [{type} {sizes}]"
    "{owner} is at version {now}; expected version {then} instead. Hint: {hint}"
)
STALE_HINT = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
STALE_HINT_ANOMALY = (
    "the backtrace further above shows the operation that failed to compute its gradient. The variable in question "
    "was changed in there or anywhere later. Good luck!"
)
ONLY_FLOATS_IN_PLACE = "only Tensors of floating point dtype can require gradients"
DATA_KIND = (
    "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."
)
DATA_DTYPE = "data set to a tensor that requires gradients must be floating point or complex dtype"
POST_HOOK = "Tensor post accumulate grad hooks should return None."
SCALAR_ONLY = "grad can be implicitly created only for scalar outputs"
NO_GRAD = "element {index} of tensors does not require grad and does not have a grad_fn"
UNUSED = (
    "The differentiated Tensor at index {index} appears to not have been used in the graph. Set allow_unused=True if "
    "this is the desired behavior."
)
INPUT_NO_GRAD = "One of the differentiated Tensors does not require grad"
LEAF_INPLACE = "a leaf Variable that requires grad is being used in an in-place operation."
LEAF_VIEW_INPLACE = "a view of a leaf Variable that requires grad is being used in an in-place operation."
MOVED = "leaf variable has been moved into the graph interior"
RECORDED_VIEW = "{which} is a view and {modified} modified inplace. "
UNRECORDED_VIEW = "{what} created in {mode} mode and {modified} modified inplace {now}. "
VIEW_ORIGIN = {
    "multi": (
        "This view is the output of a function that returns multiple views. Such functions do not allow the output "
        "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
    ),
    **{
        origin: "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
        f"moving both the view and the inplace either both inside the {block} block (if you don't want the inplace to "
        "be tracked) or both outside (if you want the inplace to be tracked)."
        for origin, block in (("no_grad", "no_grad"), ("inference", "inference_mode"))
    },
    "custom": (
        "This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
        "logic to handle view+inplace would override the custom backward associated with the custom Function, leading "
        "to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
        "Function."
    ),
}
OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    "Please clone() the tensor before performing the operation."
)
CONJUGATE = (
    "a conjugate is being written in place: in PyTorch that changes the tensor whose conjugate it is, here a conjugate "
    "has numbers of its own. Write into that tensor, or into conj_physical() or resolve_conj() of it."
)
PARTIAL_OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
MIXED_SEED = (
    "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
    "grad_output[{index}] has a dtype of {seed.dtype} and output[{index}] has a dtype of {output.dtype}."
)
OUT_DTYPE = "Expected out tensor to have dtype {wanted}, but got {found} instead"
ASSERTED = (
    "Expected {} to be true, but got false.  (Could this error message be improved?  If so, please report an "
    "enhancement request to PyTorch.)"
)
OUT_FOUND = "Found dtype {Found} but expected {Wanted}"
OUT_MATCH = "result dtype {Found} does not match input dtype {Wanted}"
OUT_SAME = "{name}(): self and result must have the same scalar type"
OUT_SAFELY = "{name}: Expected {part} to be safely castable from {Wanted} dtype, but got {part} with dtype {Found}"
OUT_TENSORDOT = (
    "tensordot: Expected the output tensor to have dtype {Wanted}, but got an output tensor with dtype {Found}"
)
OUT_RUNNING = "expected scalar_type {Wanted} but found {Found}"
OUT_GRADIENT = (
    "{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
    "requires grad."
)
#: The operations that PyTorch computes functions by, which it names in that sentence.
COMPUTED_BY = {
    **{f"linalg_{name}": f"_linalg_{name}" for name in ("det", "slogdet", "eigh")},
    "slogdet": "_linalg_slogdet",
    "linalg_inv": "linalg_inv_ex", "linalg_cholesky": "linalg_cholesky_ex", "linalg_solve": "_linalg_solve_ex",
    "linalg_svd": "_linalg_svd", "linalg_svdvals": "_linalg_svd", "linalg_eigvalsh": "_linalg_eigh",
    "outer": "mul", "kron": "mul", "multi_dot": "mm", "linalg.pinv": "linalg_pinv",
    "qr": "linalg_qr", "pow_base": "pow", "pow_number": "pow",
    "linalg_lu_factor": "linalg_lu_factor_ex", "linalg_solve_ex": "_linalg_solve_ex", "svd": "_linalg_svd",
    "xlog1py": "special_xlog1py", "zeta": "special_zeta",
    "logsigmoid": "log_sigmoid_forward", "torch.linalg.householder_product": "linalg_householder_product",
}  # fmt: skip
OUT_DEVICE = "Attempting to copy from device {source} to device {target}, but cross-device copies are not allowed!"
ONLY_FLOATS = "only Tensors of floating point and complex dtype can require gradients"
NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, "
    "use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access "
    "the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)
ONLY_LEAVES = "you can only change requires_grad flags of leaf variables."
NON_LEAF_REQUIRES_GRAD = ONLY_LEAVES + (
    " If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = "
    "var.detach()."
)
NO_BACKWARD = "_will_engine_execute_node can only be called during a backward pass: call it from a hook"
REQUIRES_GRAD_BOOL = "requires_grad must be a bool"
CREATE_GRAPH = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the "
    "cycle and avoid the leak."
)
GRAD_DTYPE = (
    "attempting to assign a gradient with dtype '{given}' to a tensor with grad_dtype '{wanted}'. The gradient must "
    "match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute "
    "with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor "
    "and its gradient may break downstream systems that assume they match."
)
BROADCAST = "The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dim}"


class ValuesHidden(RuntimeError):
    """Somebody asked a ``Hidden`` array for its values."""


class OutOfMemoryError(RuntimeError):
    """What a device raises when its memory is full; none does here: NumPy raises MemoryError."""


class AcceleratorError(RuntimeError):
    """What a device raises when its work fails; there is none here."""


for _kind in (OutOfMemoryError, AcceleratorError):
    _kind.__module__ = __name__.partition(".")[0]  # where pickles find it
