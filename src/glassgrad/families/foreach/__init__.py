"""Operations on lists of tensors, one after the other: ``torch._foreach_add`` and its kin."""
