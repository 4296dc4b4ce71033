"""What a tensor is and holds, as Python values."""
