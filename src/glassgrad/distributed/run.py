"""The command of ``glassgrad launch`` where torchrun's is: ``python -m torch.distributed.run``."""

from ..multiprocessing.launcher import ChildFailedError, get_args_parser, main, parse_args, run

__all__ = ["ChildFailedError", "get_args_parser", "main", "parse_args", "run"]

if __name__ == "__main__":
    main()
