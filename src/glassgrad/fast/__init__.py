"""The same meaning, printed as specialised code: speed, and nothing else; may be taken away."""
