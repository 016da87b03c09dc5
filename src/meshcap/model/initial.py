"""Supplement: initial values, the whole of them as two tables.

Knows parameters by the ends of their names; nothing of what they compute.
"""

import math
from collections.abc import Callable
from fnmatch import fnmatch

import torch
from torch import Tensor, nn

Rule = Callable[[Tensor], object]


def _glorot(weight: Tensor) -> None:
    nn.init.xavier_uniform_(weight)


def _he(weight: Tensor) -> None:
    nn.init.kaiming_normal_(weight, nonlinearity="relu")


def _zeros(weight: Tensor) -> None:
    nn.init.zeros_(weight)


def _ones(weight: Tensor) -> None:
    nn.init.ones_(weight)


def _normal(deviation: float) -> Rule:
    return lambda weight: nn.init.normal_(weight, std=deviation)


def _keep(weight: Tensor) -> None:
    """PyTorch's own default, which making the module has left there."""


def _authors_slots(weight: Tensor) -> None:
    # The code's slots are (1, M, D), of which Glorot makes fan-in M·D and fan-out D.
    slots, width = weight.shape
    bound = math.sqrt(6.0 / (slots * width + width))
    nn.init.uniform_(weight, -bound, bound)


def initialise(model: nn.Module, whose: str, head_width: int) -> None:
    """Fill every parameter by the first rule whose pattern fits its name.

    The paper's table is the supplement's: attention Glorot, feed-forward He, biases 0,
    M_k ~ N(0, 1/d_k), M_v ~ N(0, 1/m) (variances). It says nothing of word vectors; they begin
    at N(0, 1/d). The authors' table is what their code leaves behind (not what it says first):
    every matrix Glorot, positions and memory too.
    """
    paper: tuple[tuple[str, Rule], ...] = (
        ("*norm*.weight", _ones),
        ("*.bias", _zeros),
        ("*.memory_keys", _normal(head_width**-0.5)),
        ("*.memory_values", lambda values: _normal(values.shape[0] ** -0.5)(values)),
        ("*feed_forward.*.weight", _he),
        ("words.embedding.weight", lambda words: _normal(words.shape[1] ** -0.5)(words)),
        ("words.positions", _keep),
        ("*.weight", _glorot),
    )
    authors: tuple[tuple[str, Rule], ...] = (
        ("*norm*.weight", _ones),
        ("*norm*.bias", _zeros),
        ("projection.*bias", _keep),
        ("*feed_forward.*.bias", _keep),
        ("*.bias", _zeros),
        ("*.memory_*", _authors_slots),
        ("words.positions", _glorot),
        ("*.weight", _glorot),
    )
    table = {"paper": paper, "authors": authors}[whose]
    with torch.no_grad():
        # What a weights file holds: parameters, and positions where they are a table. Computed
        # positions are not among it, and given word vectors are not ours to fill.
        for name, weight in model.state_dict().items():
            if name != "words.given":
                next(rule for pattern, rule in table if fnmatch(name, pattern))(weight)
