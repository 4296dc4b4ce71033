"""Samples of copies of views, and of the functions behind layers under their own names."""

from tests.samples import positive, sample, t

_PLAIN = {"names": False}  # torch has a node for each copy, glassgrad the view's and a clone's
_USUAL = positive(3, grad=False)

SAMPLES = [
    sample("alias_copy", t(2, 3), **_PLAIN),
    sample("as_strided_copy", t(2, 3), (2, 2), (1, 2), **_PLAIN),
    sample("as_strided_scatter", t(3, 4), t(2, 2), (2, 2), (4, 1), 1, gradient=False),  # torch's own is not its slope
    sample("as_strided_scatter", t(3, 4, layout="transposed"), t(2), (2,), (3,), gradient=False),
    sample("diagonal_copy", t(3, 4), 1, **_PLAIN),
    sample("expand_copy", t(2, 1), (2, 3), **_PLAIN),
    sample("permute_copy", t(2, 3, 4), (2, 0, 1), **_PLAIN),
    sample("select_copy", t(2, 3), 1, 2, **_PLAIN),
    sample("slice_copy", t(4, 3), 0, 1, 3, **_PLAIN),
    sample("split_copy", t(5), 2, **_PLAIN),
    sample("split_with_sizes_copy", t(5), [2, 3], **_PLAIN),
    sample("squeeze_copy", t(2, 1, 3), **_PLAIN),
    sample("squeeze_copy", t(2, 1, 3), 1, **_PLAIN),
    sample("t_copy", t(2, 3), **_PLAIN),
    sample("transpose_copy", t(2, 3, 4), 0, 2, **_PLAIN),
    sample("unbind_copy", t(2, 3), 1, **_PLAIN),
    sample("unfold_copy", t(5), 0, 3, 1, **_PLAIN),
    sample("unsqueeze_copy", t(2, 3), 1, **_PLAIN),
    sample("view_copy", t(2, 3), (3, 2), **_PLAIN),
    sample("view_as_real_copy", t(2, 3, kind="complex"), **_PLAIN),
    sample("unsafe_split_with_sizes", t(5), [2, 3], **_PLAIN),
    sample("native_layer_norm", t(2, 3, 4), (4,), t(4), t(4), 1e-5, second=False),
    sample("native_group_norm", t(2, 4, 3), t(4), t(4), 2, 4, 3, 2, 1e-5, **_PLAIN),
    sample("native_batch_norm", t(5, 3), t(3), t(3), None, None, True, 0.1, 1e-5, **_PLAIN),
    sample("native_batch_norm", t(5, 3), None, None, _USUAL, _USUAL, False, 0.1, 1e-5, **_PLAIN),
    sample("native_dropout", t(4, 5), 0.4, True, **_PLAIN),
    sample("native_dropout", t(4, 5), 0.4, False, **_PLAIN),
    sample("frobenius_norm", t(3, 4), (0, 1)),
    sample("nuclear_norm", t(2, 3), **_PLAIN),
    sample("sym_max", 2, 3.0),
    sample("sym_int", -2.7),
]
