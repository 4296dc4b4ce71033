"""Floor 4: differentiation as users call it."""
