"""A watch over a program that trains: what made it fail, or kept it from learning, and the line that did it."""
