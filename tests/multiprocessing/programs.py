"""What child processes run: functions in a module of their own, found by name where a process starts afresh."""

import os
import time

import torch  # of whoever imports this: under the alias, glassgrad
import torch.nn.functional as F
from torch.utils.data import DataLoader


def train(rank, model, data):
    torch.manual_seed(rank)
    step = torch.optim.SGD(model.parameters(), 0.05)
    for _ in range(4):
        for x, y in DataLoader(data, 16, shuffle=True):
            step.zero_grad()
            F.mse_loss(model(x), y).backward()
            step.step()
    model.seen[rank] += 1


def add_one(index, tensor):
    tensor[index] += 1


def fail(index, how):
    if index != 1:
        time.sleep(600)  # unless it is stopped
    if how == "raise":
        raise ValueError("in the child")
    if how == "exit":
        os._exit(5)
    os.kill(os.getpid(), 9)


def answer(index, inbox, outbox, event):
    shared, plain = inbox.get()
    shared += 1
    plain += 1
    outbox.put((torch.__name__, shared.is_shared(), plain, torch.nn.Parameter(torch.ones(2)), shared))
    event.wait(20)
