"""A script of several ranks in which rank 1 does what its argument says, while the others sum."""

import datetime
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

fault = sys.argv[1]
if fault == "raises before" and os.environ["RANK"] == "1":
    raise ValueError("no data")
if fault == "exits before" and os.environ["RANK"] == "1":
    sys.exit(7)
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=3))
x = torch.ones(2)
dist.all_reduce(x)
os.write(1, f"pid {os.getpid()}\n".encode())  # a line at once, whatever the others print
if dist.get_rank() == 1:
    if fault == "raises":
        raise ValueError("no data")
    if fault == "exits":
        sys.exit(3)
    if fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "faults":
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "late":
        time.sleep(60)
    if fault == "in another order":
        dist.broadcast(x, 0)
if fault == "sleeps":
    time.sleep(60)
dist.all_reduce(x)
if dist.get_rank() == 0:
    print("sum", x.tolist())
