"""Floor 3: the catalogue of operations: rows (kernel, rules, spellings) and the composites over them."""
