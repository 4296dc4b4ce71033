"""The former launcher, which tells scripts their local rank by ``--local-rank``: use ``torch.distributed.run``."""

from ..multiprocessing.launcher import former_main as main
from ..multiprocessing.launcher import launch
from ..multiprocessing.launcher import parse_former_args as parse_args

__all__ = ["launch", "main", "parse_args"]

if __name__ == "__main__":
    main()
