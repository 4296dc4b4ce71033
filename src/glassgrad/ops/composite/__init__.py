"""Plain functions over rows; PyTorch's flexible signatures are parsed here."""
