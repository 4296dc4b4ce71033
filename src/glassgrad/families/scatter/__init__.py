"""Elements sent to places by an index, and reductions on the way."""
