"""Prints what programs record: python -m tests.programs [--engine glassgrad] NAME..."""

import argparse
import importlib

from tests.programs import programs
from tests.programs.record import is_tensor, record


def brief(description):
    """A description on one line, a tensor as its dtype, shape, node and values."""
    if is_tensor(description):
        about = description[1]
        strides = "/".join(map(str, about["stride"]))
        wants = about["grad_fn"] or ("leaf" if about["requires_grad"] else "")
        return f"<{about['dtype'][6:]}{about['shape']}:{strides} {wants} {about['values']}>"
    if isinstance(description, (list, tuple)):
        return f"[{', '.join(brief(item) for item in description)}]"
    return repr(description)


parser = argparse.ArgumentParser()
parser.add_argument("--engine", default="torch")
parser.add_argument("names", nargs="*")
options = parser.parse_args()
engine = importlib.import_module(options.engine)
for title, program in programs().items():
    if not options.names or any(name in title for name in options.names):
        print(f"--- {title}")
        for label, description in record(program, engine):
            print(f"{label}: {brief(description)}")
