"""Functions of one number, and what keeps numbers within limits; bits, signs, mantissas and exponents."""
