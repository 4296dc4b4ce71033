"""The engine, read from top to bottom: what a tensor, a record and an operation are, and what a call means."""
