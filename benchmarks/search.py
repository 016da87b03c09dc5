"""How long a beam search takes: milliseconds a picture, beside a deliberately plain search.

Full-size models with random weights, whose captions do not end, so that every search takes all
its steps. The plain search keeps nothing between words: at each step it looks at the pictures
and reads every sentence again from its beginning (the supplement's naive approach). Both are
timed in turn, in one run; the figure is the median.

    python benchmarks/search.py
    python benchmarks/search.py --device cuda --precision bf16 --pictures 1 50 250 1000
"""

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from meshcap import Regions
from meshcap.model import VARIANTS, CaptioningTransformer, build
from meshcap.search import beam_search

REGIONS = 50


def plain_search(
    model: CaptioningTransformer, regions: Regions, beams: int, length: int
) -> tuple[Tensor, Tensor]:
    """Sentences (B, K, T) and scores (B, K), with nothing kept from one word to the next."""
    pictures, device = len(regions), regions.features.device
    special = model.special_words
    said = torch.full((pictures, 1, 1), special.beginning, device=device)
    scores = torch.zeros(pictures, 1, device=device)
    finished = torch.zeros(pictures, 1, dtype=torch.bool, device=device)
    for _ in range(length):
        log_probs = model.decode(regions, said)[:, :, -1]  # (B, K, V)
        log_probs[..., list(special.never_spoken)] = -torch.inf
        log_probs[finished] = -torch.inf
        filling = torch.where(finished, 0.0, log_probs[..., special.after_end])
        log_probs[..., special.after_end] = filling
        totals = scores[..., None] + log_probs
        scores, chosen = totals.flatten(1).topk(beams, dim=1)
        parents, words = chosen // log_probs.shape[-1], chosen % log_probs.shape[-1]
        before = said.gather(1, parents[..., None].expand(-1, -1, said.shape[-1]))
        said = torch.cat([before, words[..., None]], dim=-1)
        finished = finished.gather(1, parents) | (words == special.end)
    return said[..., 1:], scores


def milliseconds(work: Callable[[], object], device: torch.device) -> float:
    """The time of one run."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - start)


def machine(device: torch.device) -> str:
    """What this ran on, in a line."""
    if device.type == "cuda":
        return f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        pass
    return f"{name}, {torch.get_num_threads()} threads, torch {torch.__version__}"


def chosen_on_the_command_line() -> argparse.Namespace:
    """What to time."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    arguments.add_argument("--precision", default="float32", choices=["float32", "tf32", "bf16"])
    arguments.add_argument("--variant", default="m2", choices=sorted(VARIANTS))
    arguments.add_argument("--pictures", type=int, nargs="+", default=[1, 10, 50])
    arguments.add_argument("--beams", type=int, default=5)
    arguments.add_argument("--length", type=int, default=20)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--no-plain", action="store_true", help="leave the plain search out")
    chosen = arguments.parse_args()
    if chosen.device == "cuda" and not torch.cuda.is_available():
        arguments.error("there is no GPU that PyTorch can use here")
    return chosen


def main() -> None:
    """Time each batch size and print a row."""
    chosen = chosen_on_the_command_line()
    device = torch.device(chosen.device)
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high" if chosen.precision == "tf32" else "highest")
    model = build(VARIANTS[chosen.variant]).eval().to(device)
    if chosen.precision == "bf16":
        model = model.to(torch.bfloat16)
    print(
        f"{chosen.variant}, beam {chosen.beams}, {chosen.length} words, {REGIONS} regions, "
        f"random weights, {chosen.precision}"
    )
    print(f"{machine(device)}, {time.strftime('%Y-%m-%d')}")
    heads = ["pictures", "search ms", "ms a picture", "plain ms a picture", "plain / ours"]
    if device.type == "cuda":
        heads.append("peak GiB")
    print(" | ".join(heads))
    for pictures in chosen.pictures:
        features = torch.rand(pictures, REGIONS, model.config.region_width, device=device)
        regions = Regions(features)

        def ours(regions: Regions = regions) -> object:
            return beam_search(model, regions, beams=chosen.beams, length=chosen.length)

        def plain(regions: Regions = regions) -> object:
            with torch.no_grad():
                return plain_search(model, regions, chosen.beams, chosen.length)

        if device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        for _ in range(3):  # a GPU records the search the second time it comes
            ours()
        peak = torch.cuda.max_memory_allocated() / 2**30 if device.type == "cuda" else 0.0
        own, other = [], []
        for _ in range(chosen.runs):
            own.append(milliseconds(ours, device))
            if not chosen.no_plain:
                other.append(milliseconds(plain, device))
        row = [f"{pictures}", f"{statistics.median(own):.1f}"]
        row.append(f"{statistics.median(own) / pictures:.2f}")
        if other:
            row.append(f"{statistics.median(other) / pictures:.2f}")
            row.append(f"{statistics.median(other) / statistics.median(own):.1f}")
        else:
            row += ["-", "-"]
        if device.type == "cuda":
            row.append(f"{peak:.2f}")
        print(" | ".join(row))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
