"""Weights on disk: ours, one safetensors file a model; and the authors' checkpoints, both ways."""

from meshcap.weights.authors import load_authors, save_authors
from meshcap.weights.checkpoint import Checkpoint, Description, describe, load, read, save

__all__ = [
    "Checkpoint",
    "Description",
    "describe",
    "load",
    "load_authors",
    "read",
    "save",
    "save_authors",
]
