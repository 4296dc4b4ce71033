"""Parts of a tensor, taken and put back."""
