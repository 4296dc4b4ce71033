"""Where the catalogue declares what: written by ``python -m glassgrad.ops.stub``, read by ``catalogue.py``.

For each family its names: function and method | function only | method only | property | neither.
"""

CONTENTS = {
    "primitive.activation":
        "relu relu_ |  |  |  | celu celu_written elu elu_backward elu_written gelu gelu_backward glu hardshrink "
        "hardsigmoid hardsigmoid_backward hardswish hardswish_backward hardtanh hardtanh_backward leaky_relu "
        "leaky_relu_backward leaky_relu_written log_sigmoid_backward logsigmoid mish mish_backward prelu_kernel "
        "rrelu_with_noise rrelu_with_noise_written shrink_backward silu silu_backward softplus softplus_backward "
        "softshrink threshold threshold_backward threshold_written",
    "primitive.arithmetic":
        "add add_ mul mul_ multiply multiply_ neg neg_ negative negative_ reciprocal reciprocal_ sub sub_ subtract "
        "subtract_ true_divide true_divide_ | addcdiv_ addcmul_ div_ floor_divide_ fmod_ lerp_ pow_ remainder_ | "
        "__add__ __iadd__ __imul__ __ineg__ __isub__ __itruediv__ __mul__ __neg__ __radd__ __rmul__ __sub__ "
        "__truediv__ rsub |  | addcdiv addcmul div div_rounded floor_divide floor_divide_number fmod fmod_number lerp "
        "lerp_number pow pow_base pow_number power_of_zero remainder remainder_number remainder_of_number rsub_number",
    "primitive.arrange":
        "tril tril_ triu triu_ |  |  |  | flip repeat roll rot90",
    "primitive.attention":
        " |  |  |  | flash_attention flash_attention_backward safe_softmax",
    "primitive.batch":
        "addbmm addbmm_ baddbmm bmm trace | baddbmm_ |  |  | linalg_cross trace_backward trilinear",
    "primitive.batchnorm":
        " |  |  |  | native_batch_norm native_batch_norm_backward",
    "primitive.bessel":
        "i0 i0_ |  |  |  | special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 "
        "special_i0e special_i1 special_i1e special_modified_bessel_i0 special_modified_bessel_i1 "
        "special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0 "
        "special_scaled_modified_bessel_k1 special_spherical_bessel_j0 tiny_aside",
    "primitive.bitwise":
        "bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or "
        "bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ |  | __and__ __iand__ "
        "__ilshift__ __ior__ __irshift__ __ixor__ __lshift__ __or__ __rand__ __ror__ __rshift__ __rxor__ __xor__ |  |",
    "primitive.cast":
        " |  |  |  | clone copy fill_number fill_tensor fill_with_number fill_with_tensor spread_over to_copy "
        "view_as_complex view_as_real whole_sum zero",
    "primitive.cell":
        " |  |  |  | gru_gates gru_gates_backward lstm_gates lstm_gates_backward projected",
    "primitive.cholesky":
        " |  |  |  | cholesky cholesky_inverse cholesky_solve linalg_cholesky_ex",
    "primitive.compare":
        "eq fmax fmin ge greater greater_equal gt isfinite isinf isnan isneginf isposinf isreal le less less_equal "
        "logical_and logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ lt maximum "
        "minimum ne not_equal signbit |  | __eq__ __ge__ __gt__ __le__ __lt__ __ne__ |  | eq_number_written "
        "eq_written fmax_mask fmin_mask ge_number_written ge_written gt_number_written gt_written le_number_written "
        "le_written lt_number_written lt_written ne_number_written ne_written share where zero_like",
    "primitive.convolution":
        " |  |  |  | col2im conv_tbc conv_tbc_input conv_tbc_weight convolution convolution_input convolution_weight "
        "im2col",
    "primitive.ctc":
        " |  |  |  | ctc_loss_backward ctc_loss_forward",
    "primitive.decompose":
        " |  |  |  | determinant inverse_of linalg_slogdet solution",
    "primitive.distance":
        "dist renorm renorm_ |  |  |  | cdist_forward linalg_vector_norm longer norm_dim peaks power_of_size",
    "primitive.draws":
        "_sample_dirichlet _standard_gamma _standard_gamma_grad | _dirichlet_grad binomial |  |  |",
    "primitive.eigen":
        " |  |  |  | linalg_eig linalg_eigh",
    "primitive.embed":
        " |  |  |  | embedding embedding_dense_backward embedding_twice one_hot_of",
    "primitive.embedding_bag":
        " |  |  |  | bag_dots bag_peaks bag_peaks_table bag_shares bag_sums bag_table embedding_bag",
    "primitive.exponential":
        " |  |  |  | around blocks linalg_matrix_exp upper_right",
    "primitive.extreme":
        "argmax argmin |  |  |  | all_dim amax_dim amin_dim aminmax_dim any_dim count_nonzero_dim kthvalue_dim "
        "max_all max_dim median_all median_dim min_all min_dim mode_dim nanmedian_all nanmedian_dim pick place ties",
    "primitive.fourier":
        " |  |  |  | fft_c2c fft_c2r fft_r2c middle",
    "primitive.gamma":
        "igamma igamma_ igammac igammac_ mvlgamma mvlgamma_ |  |  |  | special_zeta zeta_number zeta_of_number",
    "primitive.index":
        "diag_embed diagonal diagonal_scatter select select_scatter slice_scatter |  |  |  | blank diagonal_backward "
        "diagonal_copy index index_backward index_put masked_fill masked_fill_tensor masked_scatter "
        "masked_scatter_backward masked_select narrow_copy select_backward slice slice_backward unfold "
        "unfold_backward",
    "primitive.join":
        "unbind |  |  |  | block_diag cat split split_with_sizes stack unsafe_split",
    "primitive.limit":
        "arctan2 arctan2_ atan2 atan2_ deg2rad deg2rad_ heaviside_ hypot hypot_ ldexp ldexp_ logaddexp logaddexp2 "
        "nan_to_num nan_to_num_ rad2deg rad2deg_ | copysign_ xlogy_ |  |  | clamp_max_number clamp_max_tensor "
        "clamp_min_number clamp_min_tensor clamp_numbers clamp_tensors copysign copysign_number finite_mask heaviside "
        "within xlogy xlogy_number xlogy_of_number",
    "primitive.linear":
        " |  |  |  | linear_2d",
    "primitive.loss":
        " |  |  |  | binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits bounded_log "
        "bounded_reciprocal clipped huber_loss inside label_pairs mse_loss mse_loss_backward multi_margin_loss "
        "multilabel_margin_loss nll_loss nll_loss2d nll_loss_backward other_classes smooth_l1_loss soft_margin_loss "
        "softplus_of_minus weights_of",
    "primitive.matrix":
        "addmm addmv addmv_ addr addr_ dot mm mv vdot | addmm_ |  |  | column_sums squeezed_row",
    "primitive.norm":
        " |  |  |  | inverse_deviation native_group_norm native_group_norm_backward native_layer_norm "
        "native_layer_norm_backward shaped standardize_backward standardized",
    "primitive.number":
        " |  |  |  | add_number div_number mul_number sub_number",
    "primitive.orthogonal":
        " |  |  |  | geqrf linalg_householder_product linalg_qr ormqr reflections",
    "primitive.packed":
        " |  |  |  | pack_again pack_padded pack_padded_backward pad_packed",
    "primitive.pad":
        "constant_pad_nd |  |  |  | pad_backward pad_by reflection_pad1d reflection_pad2d reflection_pad3d "
        "replication_pad1d replication_pad2d replication_pad3d",
    "primitive.pointwise":
        "acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan_ "
        "arctanh arctanh_ asin asin_ asinh asinh_ atan atan_ atanh atanh_ cos cos_ cosh cosh_ exp exp2 exp2_ exp_ "
        "expm1 expm1_ log log10 log10_ log1p log1p_ log2 log2_ log_ logit logit_ rsqrt rsqrt_ sigmoid sigmoid_ sin "
        "sin_ sinh sinh_ sqrt sqrt_ tan tan_ tanh tanh_ |  |  |  | sigmoid_backward tanh_backward",
    "primitive.polynomial":
        " |  |  |  | special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
        "special_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he "
        "special_laguerre_polynomial_l special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t "
        "special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "
        "special_shifted_chebyshev_polynomial_w",
    "primitive.pooling":
        " |  |  |  | adaptive_avg_pool2d adaptive_avg_pool3d adaptive_avg_pool_backward adaptive_max_pool2d "
        "adaptive_max_pool3d avg_pool2d avg_pool3d avg_pool_backward fractional_max_pool2d fractional_max_pool3d "
        "max_pool2d_with_indices max_pool3d_with_indices max_pool_values max_unpool2d max_unpool3d pool_pick pool_put",
    "primitive.random":
        "poisson |  |  |  | bernoulli_by bernoulli_like bernoulli_over cauchy_over exponential_over geometric_over "
        "log_normal_over normal_by_both normal_by_mean normal_by_std normal_over random_below random_between "
        "random_over uniform_over",
    "primitive.recurrent":
        " |  |  |  | gru_layer gru_layer_backward lstm_layer lstm_layer_backward mkldnn_rnn_layer rnn_layer "
        "rnn_layer_backward",
    "primitive.reduce":
        " |  |  |  | mean mean_dim nansum_dim present prod_all prod_dim safe_divide spread spread_dim std_dim "
        "std_mean_dim sum sum_dim var_dim var_mean_dim",
    "primitive.representation":
        "gcd gcd_ lcm lcm_ nextafter nextafter_ |  |  |  | frexp_parts halved",
    "primitive.resample":
        " |  |  |  | channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle resampled resampled_back "
        "upsample_bicubic2d upsample_bicubic2d_aa upsample_bilinear2d upsample_bilinear2d_aa upsample_lanczos2d_aa "
        "upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_nearest_exact1d "
        "upsample_nearest_exact2d upsample_nearest_exact3d upsample_trilinear3d",
    "primitive.rms_norm":
        " |  |  |  | fused_rms_norm fused_rms_norm_backward",
    "primitive.sampling":
        " |  |  |  | affine_grid_back affine_grid_generator grid_sampled grid_sampler_2d grid_sampler_3d "
        "grid_scattered grid_slopes",
    "primitive.scan":
        " | cumprod_ cumsum_ |  |  | add_along before cummax_dim cummin_dim cumprod cumsum decay logcumsumexp others "
        "recur shifted tail_sums take_along",
    "primitive.scatter":
        "take |  |  |  | corner corner_backward gather gather_backward put scatter scatter_add scatter_reduce "
        "scatter_value",
    "primitive.segment":
        " |  |  |  | segment_reduce_backward segmented",
    "primitive.shape":
        "swapaxes swapdims t transpose unsqueeze |  |  |  | alias compact expand permute reshape_alias squeeze "
        "squeeze_dim squeeze_dim_inplace squeeze_dims squeeze_dims_inplace squeeze_inplace sum_to t_inplace "
        "transpose_inplace unsafe_view unsqueeze_inplace view view_dtype",
    "primitive.sign":
        "abs abs_ absolute absolute_ ceil ceil_ conj_physical_ fix fix_ floor floor_ frac frac_ sgn sgn_ sign sign_ "
        "trunc trunc_ |  |  |  | along angle angle_of_complex complex_from conj conj_physical polar real round "
        "round_decimals",
    "primitive.singular":
        " |  |  |  | linalg_lstsq linalg_pinv linalg_svd unit_matrices",
    "primitive.slices":
        " |  |  |  | index_add index_copy index_fill index_fill_tensor index_reduce index_select "
        "index_select_backward",
    "primitive.softmax":
        " |  |  |  | log_softmax log_softmax_backward logsumexp_dim shares softmax softmax_backward",
    "primitive.sort":
        "histc |  |  |  | bincount nonzero searchsorted sort sort_stable topk",
    "primitive.special":
        "digamma digamma_ erf erf_ erfc erfc_ erfinv erfinv_ lgamma lgamma_ sinc sinc_ |  |  |  | polygamma_of "
        "special_entr special_erfcx special_log_ndtr special_ndtri special_xlog1py xlog1py_number xlog1py_of_number",
    "primitive.triangular":
        " |  |  |  | linalg_lu linalg_lu_factor_ex linalg_lu_solve lower_rest permutation_of substitute triangles_of "
        "triangular_solve upper_rest",
    "primitive.weight_norm":
        " |  |  |  | weight_norm_interface",
    "primitive.window":
        "as_strided |  |  |  | embed_window put_window take_window",
    "composite.activation":
        "hardshrink prelu | celu celu_ rrelu rrelu_ selu selu_ threshold threshold_ |  |  |",
    "composite.algebra":
        "cross det ger inner inverse kron matrix_power outer | bilinear chain_matmul tensordot |  |  |",
    "composite.arrange":
        "flip fliplr flipud repeat_interleave roll rot90 tile |  | repeat |  |",
    "composite.compare":
        "allclose equal isclose where |  | eq_ ge_ greater_ greater_equal_ gt_ le_ less_ less_equal_ lt_ ne_ "
        "not_equal_ |  |",
    "composite.construct":
        " | as_tensor asarray from_numpy frombuffer scalar_tensor tensor |  |  |",
    "composite.convert":
        "angle clone conj conj_physical detach detach_ fill fill_ is_conj resolve_conj resolve_neg view_as_complex "
        "view_as_real zero_ | complex imag polar real | bfloat16 bool byte cdouble cfloat char contiguous copy_ cpu "
        "cuda double float half int is_contiguous long short to type type_as | imag real |",
    "composite.convolution":
        " | conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution |  |  |",
    "composite.copies":
        "as_strided_ as_strided_scatter nonzero_static unsafe_split_with_sizes | alias_copy as_strided_copy "
        "detach_copy diagonal_copy expand_copy permute_copy resize_as_ select_copy slice_copy slice_inverse "
        "split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy "
        "view_as_complex_copy view_as_real_copy view_copy | const_data_ptr resize resize_as |  |",
    "composite.create":
        " | empty empty_like empty_permuted empty_strided full full_like ones ones_like zeros zeros_like | new_empty "
        "new_empty_strided new_full new_ones new_tensor new_zeros |  |",
    "composite.ctc":
        " | ctc_loss |  |  |",
    "composite.dropout":
        " | alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_ "
        "feature_dropout feature_dropout_ |  |  |",
    "composite.einsum":
        " | einsum |  |  |",
    "composite.embedding_bag":
        " | embedding_bag embedding_renorm_ |  |  |",
    "composite.equations":
        "matrix_exp pinverse |  |  |  |",
    "composite.getitem":
        " |  | __contains__ __delitem__ __getitem__ __iter__ __reversed__ __setitem__ |  |",
    "composite.index":
        "diag diagflat index_put index_put_ masked_fill masked_scatter masked_select narrow narrow_copy "
        "take_along_dim | tril_indices triu_indices | fill_diagonal_ masked_fill_ masked_scatter_ unfold |  |",
    "composite.interchange":
        " | from_dlpack to_dlpack | __array__ __array_wrap__ __deepcopy__ __dlpack__ __dlpack_device__ __reduce_ex__ "
        "apply_ is_pinned map2_ map_ numpy pin_memory |  |",
    "composite.join":
        "chunk combinations dsplit hsplit split split_with_sizes tensor_split unsafe_chunk unsafe_split vsplit | "
        "block_diag cartesian_prod cat column_stack concat concatenate dstack hstack meshgrid row_stack stack vstack "
        "|  |  |",
    "composite.limit":
        "clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ copysign heaviside xlogy |  | copysign_ "
        "xlogy_ |  |",
    "composite.loss":
        " | binary_cross_entropy_with_logits cosine_embedding_loss embedding hinge_embedding_loss kl_div "
        "margin_ranking_loss poisson_nll_loss triplet_margin_loss |  |  |",
    "composite.matrix":
        "matmul |  | __matmul__ __rmatmul__ addmm_ baddbmm_ |  |",
    "composite.memory":
        " | from_file is_storage | _typed_storage set_ storage storage_type untyped_storage |  |",
    "composite.native":
        " | frobenius_norm native_batch_norm native_dropout native_group_norm native_layer_norm nuclear_norm "
        "set_anomaly_enabled sym_constrain_range sym_constrain_range_for_size sym_float sym_int sym_ite sym_max "
        "sym_min sym_not sym_sqrt sym_sum |  |  |",
    "composite.norm":
        "norm | batch_norm cdist cosine_similarity group_norm instance_norm layer_norm pairwise_distance pdist "
        "rms_norm |  |  |",
    "composite.packed":
        " | _pack_padded_sequence _pad_packed_sequence |  |  |",
    "composite.pad":
        " |  |  |  | pad",
    "composite.pointwise":
        "addcdiv addcmul div divide float_power floor_divide fmod lerp polygamma positive pow remainder round round_ "
        "square square_ | rsub | __abs__ __floordiv__ __ifloordiv__ __imod__ __invert__ __ipow__ __mod__ __pos__ "
        "__pow__ __rdiv__ __rfloordiv__ __rlshift__ __rmod__ __rpow__ __rrshift__ __rsub__ __rtruediv__ addcdiv_ "
        "addcmul_ div_ divide_ float_power_ floor_divide_ fmod_ lerp_ polygamma_ pow_ remainder_ |  |",
    "composite.pooling":
        " | adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d max_pool1d max_pool1d_with_indices max_pool2d "
        "max_pool3d |  |  | adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d "
        "avg_pool2d avg_pool3d max_pool2d_with_indices max_pool3d_with_indices",
    "composite.quantile":
        "nanquantile quantile |  |  |  |",
    "composite.query":
        "get_device is_complex is_floating_point is_inference is_neg is_nonzero is_same_size is_signed numel | "
        "can_cast is_tensor result_type | __bool__ __complex__ __float__ __format__ __index__ __int__ __len__ "
        "data_ptr dim element_size is_set_to item ndimension nelement size storage_offset stride tolist | is_cpu "
        "is_cuda is_meta is_mkldnn is_mps is_quantized is_sparse is_xpu |",
    "composite.random":
        "bernoulli multinomial | get_rng_state normal rand rand_like randint randint_like randn randn_like randperm "
        "set_rng_state | bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_ |  |",
    "composite.ranges":
        " | arange eye linspace logspace range |  |  |",
    "composite.recurrent":
        " | gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell |  |  |",
    "composite.reduce":
        "all amax amin aminmax any count_nonzero kthvalue max mean median min mode nanmean nanmedian nansum prod std "
        "sum var | std_mean var_mean |  |  |",
    "composite.resample":
        " | affine_grid_generator channel_shuffle grid_sampler grid_sampler_2d grid_sampler_3d native_channel_shuffle "
        "pixel_shuffle pixel_unshuffle |  |  |",
    "composite.sampled":
        " | gradient |  |  |",
    "composite.scan":
        "cummax cummin cumprod cumsum diff log_softmax logcumsumexp logsumexp softmax | cumulative_trapezoid "
        "trapezoid trapz | cumprod_ cumsum_ |  |",
    "composite.scatter":
        "gather index_add index_copy index_fill index_reduce index_select put scatter scatter_add scatter_reduce |  | "
        "index_add_ index_copy_ index_fill_ index_reduce_ put_ scatter_ scatter_add_ scatter_reduce_ |  |",
    "composite.segment":
        " | segment_reduce |  |  |",
    "composite.shape":
        "adjoint broadcast_to flatten moveaxis movedim permute ravel reshape squeeze unflatten | atleast_1d "
        "atleast_2d atleast_3d broadcast_shapes broadcast_tensors | expand expand_as reshape_as resize_ resize_as_ "
        "squeeze_ sum_to_size swapaxes_ swapdims_ t_ transpose_ unsqueeze_ view view_as | H T mH mT |",
    "composite.share":
        " |  | is_shared share_memory_ |  |",
    "composite.sort":
        "argsort argwhere bincount isin msort nonzero sort topk unique unique_consecutive | bucketize searchsorted | "
        "|  |",
    "composite.sparse":
        " | sparse_coo_tensor sparse_csr_tensor | sparse_mask to_sparse to_sparse_coo to_sparse_csr |  |",
    "composite.sparse_arithmetic":
        " | dsmm spmm |  |  |",
    "composite.special":
        "frexp |  |  |  |",
    "composite.spectrogram":
        "istft stft |  |  |  |",
    "composite.statistics":
        "corrcoef cov histogram | histogramdd |  |  |",
    "composite.storage":
        " | UntypedStorage |  |  |",
    "composite.superseded":
        "cholesky cholesky_inverse cholesky_solve eig geqrf logdet lstsq lu lu_solve orgqr ormqr qr slogdet solve svd "
        "symeig triangular_solve | lobpcg lu_unpack matrix_rank pca_lowrank svd_lowrank vander |  |  |",
    "composite.traits":
        "is_distributed | unravel_index | as_subclass coalesce dense_dim dim_order indices is_coalesced sparse_dim "
        "to_dense values | is_ipu is_maia is_mtia is_nested is_sparse_csr is_vulkan is_xla name volatile |",
    "composite.typed_storage":
        " | BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage "
        "DoubleStorage FloatStorage HalfStorage IntStorage LongStorage ShortStorage TypedStorage |  |  |",
    "composite.typed_tensors":
        " | BFloat16Tensor BoolTensor ByteTensor CharTensor ComplexDoubleTensor ComplexFloatTensor DoubleTensor "
        "FloatTensor HalfTensor IntTensor LongTensor ShortTensor set_default_tensor_type | new new_legacy |  |",
    "composite.unpooling":
        " |  |  |  | fractional_max_pool2d fractional_max_pool3d max_unpool2d max_unpool3d",
    "composite.weight_norm":
        " | _weight_norm norm_except_dim |  |  |",
    "composite.window":
        " | bartlett_window blackman_window hamming_window hann_window kaiser_window |  |  |",
}  # fmt: skip

#: The methods of sparse tensors, by class.
SPARSE = {
    "SparseTensor":
        "__array__ __deepcopy__ __iadd__ __imul__ __isub__ __itruediv__ __reduce_ex__ abs_ add_ copy_ detach detach_ "
        "div_ is_contiguous mul_ neg_ norm numpy relu_ reshape sqrt_ sub_ to_dense type values zero_",
    "CooTensor":
        "_coalesced_ coalesce dense_dim indices is_coalesced sparse_dim",
    "CsrTensor":
        "col_indices crow_indices",
}  # fmt: skip
