"""The choices inside a search, each beside what it was chosen over: medians, in microseconds.

Linear maps on a CPU (F.linear, oneDNN, oneDNN with packed weights); the few largest of a
vocabulary's numbers (topk, ours); on a GPU attention of few queries (separate products, one
kernel). Weights and inputs rotate, so that caches do not serve.

    python benchmarks/parts.py
    python benchmarks/parts.py --device cuda
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from meshcap.model import few_queries
from meshcap.model.attention import attend
from meshcap.model.keys_values import KeysValues
from meshcap.model.linear import Linear
from meshcap.search.top import largest
from search import machine


def microseconds(works: list[Callable[[], object]], device: torch.device, runs: int = 100) -> float:
    """The median of `runs` runs, which take turns among `works`.

    On a GPU one run is the replay of a graph of all of them, so that launching does not count.
    """
    if device.type == "cuda":
        return _replayed(works, runs)
    times = []
    for i in range(-10, runs):
        start = time.perf_counter()
        works[i % len(works)]()
        if i >= 0:
            times.append(1e6 * (time.perf_counter() - start))
    return statistics.median(times)


def _replayed(works: list[Callable[[], object]], runs: int) -> float:
    for work in works:
        work()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for work in works:
            work()
    times = []
    for i in range(-10, runs):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if i >= 0:
            times.append(1e3 * begin.elapsed_time(end) / len(works))
    return statistics.median(times)


def linear_maps() -> None:
    """Few rows times many weights, as a search's step has them."""
    print("rows | in | out | F.linear | oneDNN | oneDNN, packed")
    cpu = torch.device("cpu")
    for rows in (1, 5, 15, 50, 250):
        for wide, out in ((512, 512), (1024, 512), (512, 2048), (512, 10201)):
            maps = [Linear(wide, out) for _ in range(max(2, 30_000_000 // (wide * out)))]
            given = torch.randn(rows, wide)

            def plain(each: Linear, given: Tensor = given) -> Tensor:
                return F.linear(given, each.weight, each.bias)

            def ours(each: Linear, given: Tensor = given) -> Tensor:
                return each(given)

            found = [microseconds([lambda m=m: plain(m) for m in maps], cpu)]
            found.append(microseconds([lambda m=m: ours(m) for m in maps], cpu))
            for each in maps:
                each.pack()
            found.append(microseconds([lambda m=m: ours(m) for m in maps], cpu))
            print(" | ".join(map(str, (rows, wide, out, *(f"{each:.0f}" for each in found)))))


def few_largest(device: torch.device) -> None:
    """The eight largest of each row of a vocabulary's length."""
    print("rows | topk | ours")
    for rows in (5, 50, 250, 5000):
        given = [torch.randn(rows, 10201, device=device) for _ in range(4)]
        found = (
            microseconds([lambda g=g: g.topk(8, dim=-1) for g in given], device),
            microseconds([lambda g=g: largest(g, 8) for g in given], device),
        )
        print(" | ".join((str(rows), *(f"{each:.0f}" for each in found))))


def few_asking() -> None:
    """Cross-attention of five beams at fifty regions of three levels, bf16."""
    print("pictures | separate products | one kernel")
    device = torch.device("cuda")
    for pictures in (1, 50, 250, 1000):
        given = []
        for _ in range(4):
            asking = torch.randn(pictures, 1, 5, 512, device=device, dtype=torch.bfloat16)
            known = torch.randn(2, pictures, 3, 8, 50, 64, device=device, dtype=torch.bfloat16)
            hidden = torch.rand(pictures, 1, 1, 1, 50, device=device) < 0.2
            given.append((asking, KeysValues(known[0], known[1]), hidden))

        def separate(asking: Tensor, known: KeysValues, hidden: Tensor) -> Tensor:
            heads = asking.unflatten(-1, (8, 64)).transpose(-3, -2)
            return attend(heads, known, hidden)[0].transpose(-3, -2).flatten(-2)

        found = (
            microseconds([lambda g=g: separate(*g) for g in given], device),
            microseconds([lambda g=g: few_queries.attend_few(*g) for g in given], device),
        )
        print(" | ".join((str(pictures), *(f"{each:.0f}" for each in found))))


def main() -> None:
    """Print each table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    device = torch.device(arguments.parse_args().device)
    print(f"{machine(device)}, {time.strftime('%Y-%m-%d')}")
    with torch.no_grad():
        if device.type == "cpu":
            linear_maps()
        few_largest(device)
        if device.type == "cuda":
            few_asking()


if __name__ == "__main__":
    main()
