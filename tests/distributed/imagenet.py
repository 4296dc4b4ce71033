"""A script in the manner of PyTorch's ImageNet example: its options, its workers, its meters, with a small network."""

import argparse
import json
import os
import time

import torch
import torch.backends.cudnn as cudnn
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.parallel
import torch.optim
import torch.utils.data
import torch.utils.data.distributed
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import Subset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", default=2, type=int)
parser.add_argument("--resume", default="")
parser.add_argument("-b", "--batch-size", default=12, type=int, help="of all processes together")
parser.add_argument("-j", "--workers", default=2, type=int)
parser.add_argument("--lr", default=0.05, type=float)
parser.add_argument("--seed", default=3, type=int)
parser.add_argument("--world-size", default=-1, type=int)
parser.add_argument("--rank", default=-1, type=int)
parser.add_argument("--dist-url", default="env://")
parser.add_argument("--dist-backend", default="gloo")
parser.add_argument("--multiprocessing-distributed", action="store_true")
parser.add_argument("--processes", default=2, type=int, help="on this machine, where the example counts its GPUs")
parser.add_argument("folder")


def main():
    args = parser.parse_args()
    if args.dist_url == "env://" and args.world_size == -1:
        args.world_size = int(os.environ.get("WORLD_SIZE", "1"))
    args.distributed = args.world_size > 1 or args.multiprocessing_distributed
    if args.multiprocessing_distributed:
        args.world_size = args.processes * args.world_size
        mp.spawn(main_worker, nprocs=args.processes, args=(args,))
    else:
        main_worker(None, args)


class Images(torch.utils.data.Dataset):
    """Pictures of noise, whose class is where they are brightest."""

    def __init__(self, count, seed):
        self.images = torch.rand(count, 3, 8, 8, generator=torch.Generator().manual_seed(seed))
        self.labels = self.images.mean(1).flatten(1).argmax(1) // 13

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


def network():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 5),
    )  # fmt: skip


def main_worker(place, args):
    torch.manual_seed(args.seed)
    cudnn.benchmark = False
    if args.distributed:
        if args.dist_url == "env://" and args.rank == -1:
            args.rank = int(os.environ["RANK"])
        if args.multiprocessing_distributed:
            args.rank = args.rank * args.processes + place
        dist.init_process_group(
            backend=args.dist_backend, init_method=args.dist_url, world_size=args.world_size, rank=args.rank
        )
    model = network()
    if args.distributed:
        args.batch_size = int(args.batch_size / args.world_size)
        model = torch.nn.parallel.DistributedDataParallel(model)
    device = torch.device("cpu")
    criterion = nn.CrossEntropyLoss().to(device)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.5)
    start = 0
    if args.resume:
        checkpoint = torch.load(args.resume, map_location=device)
        start = checkpoint["epoch"]
        state = checkpoint["state_dict"]
        prefix = "module." if args.distributed else ""
        model.load_state_dict({prefix + name.removeprefix("module."): value for name, value in state.items()})
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])

    train_dataset, val_dataset = Images(48, 0), Images(27, 1)
    if args.distributed:
        train_sampler = torch.utils.data.distributed.DistributedSampler(train_dataset)
        val_sampler = torch.utils.data.distributed.DistributedSampler(val_dataset, shuffle=False, drop_last=True)
    else:  # the example shuffles by a RandomSampler here, whose order one process has alone
        train_sampler = torch.utils.data.distributed.DistributedSampler(train_dataset, 1, 0)
        val_sampler = None
    train_loader = torch.utils.data.DataLoader(
        train_dataset, batch_size=args.batch_size, num_workers=args.workers, pin_memory=False, sampler=train_sampler
    )
    val_loader = torch.utils.data.DataLoader(
        val_dataset, batch_size=args.batch_size, shuffle=False, num_workers=args.workers, sampler=val_sampler
    )
    told = []
    for epoch in range(start, args.epochs):
        train_sampler.set_epoch(epoch)
        told += train(train_loader, model, criterion, optimizer, epoch, device, args)
        told.append(validate(val_loader, model, criterion, args))
        scheduler.step()
        if not args.multiprocessing_distributed or args.rank % args.processes == 0:
            state = {"epoch": epoch + 1, "state_dict": model.state_dict(), "optimizer": optimizer.state_dict(),
                     "scheduler": scheduler.state_dict()}  # fmt: skip
            if args.rank in (-1, 0):
                torch.save(state, f"{args.folder}/checkpoint-{epoch}.pth.tar")
    if args.rank in (-1, 0):
        with open(f"{args.folder}/told.json", "w") as file:
            json.dump(told, file)
    if args.distributed:
        dist.destroy_process_group()


def train(train_loader, model, criterion, optimizer, epoch, device, args):
    batch_time, losses = AverageMeter("Time", ":6.3f"), AverageMeter("Loss", ":.4e")
    progress = ProgressMeter(len(train_loader), [batch_time, losses], prefix=f"Epoch: [{epoch}]")
    model.train()
    told, end = [], time.time()
    for i, (images, target) in enumerate(train_loader):
        images, target = images.to(device, non_blocking=True), target.to(device, non_blocking=True)
        output = model(images)
        loss = criterion(output, target)
        losses.update(loss.item(), images.size(0))
        step = AverageMeter("Step")
        step.update(loss.item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batch_time.update(time.time() - end)
        end = time.time()
        if args.distributed:
            step.all_reduce()
        told.append(step.avg)
        if i % 2 == 0:
            progress.display(i + 1)
    return told


def validate(val_loader, model, criterion, args):
    losses, top1, top5 = AverageMeter("Loss", ":.4e"), AverageMeter("Acc@1"), AverageMeter("Acc@5")

    def run_validate(loader):
        with torch.no_grad():
            for images, target in loader:
                output = model(images)
                acc1, acc5 = accuracy(output, target, topk=(1, 5))
                losses.update(criterion(output, target).item(), images.size(0))
                top1.update(acc1[0].item(), images.size(0))
                top5.update(acc5[0].item(), images.size(0))

    model.eval()
    run_validate(val_loader)
    if args.distributed:
        for meter in (losses, top1, top5):
            meter.all_reduce()
        done = len(val_loader.sampler) * args.world_size
        if done < len(val_loader.dataset):  # what the sampler dropped, on every rank
            rest = Subset(val_loader.dataset, range(done, len(val_loader.dataset)))
            run_validate(torch.utils.data.DataLoader(rest, batch_size=args.batch_size, num_workers=args.workers))
    return [losses.avg, top1.avg, top5.avg]


class AverageMeter:
    """Computes and stores the average."""

    def __init__(self, name, fmt=":f"):
        self.name, self.fmt = name, fmt
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def all_reduce(self):
        total = torch.tensor([self.sum, self.count], dtype=torch.float32)
        dist.all_reduce(total, dist.ReduceOp.SUM, async_op=False)
        self.sum, self.count = total.tolist()
        self.avg = self.sum / self.count

    def __str__(self):
        return ("{name} {val" + self.fmt + "} ({avg" + self.fmt + "})").format(**self.__dict__)


class ProgressMeter:
    def __init__(self, num_batches, meters, prefix=""):
        digits = len(str(num_batches))
        self.of = "[{:" + str(digits) + "d}/" + f"{num_batches}]"
        self.meters, self.prefix = meters, prefix

    def display(self, batch):
        print("\t".join([self.prefix + self.of.format(batch), *map(str, self.meters)]))


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        _, pred = output.topk(max(topk), 1, True, True)
        correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
        return [correct[:k].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / target.size(0)) for k in topk]


if __name__ == "__main__":
    main()
