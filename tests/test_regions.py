"""What a picture may be to the network, and the sentence for what it may not be.

Knows tensors.
"""

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, ones

import meshcap
from meshcap.errors import FeatureError
from meshcap.regions import Regions

TENSOR = "expected a torch tensor (torch.from_numpy makes one of an array)"
SHAPE = "expected (pictures, regions, features) or (regions, features), at least one of each"


def true(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


# Features, present, boxes as given; the features' shape then.
ALLOWED: list[tuple[Tensor, Tensor | None, Tensor | None, tuple[int, int, int]]] = [
    (ones(2, 3, 5), None, None, (2, 3, 5)),
    (ones(3, 5), None, None, (1, 3, 5)),
    (ones(1, 5), None, None, (1, 1, 5)),
    (ones(2, 3, 5), true(2, 3), None, (2, 3, 5)),
    (ones(3, 5), true(3), None, (1, 3, 5)),
    (ones(3, 5), true(1, 3), None, (1, 3, 5)),
    (ones(2, 3, 5), None, ones(2, 3, 4), (2, 3, 5)),
    (ones(3, 5), None, ones(3, 4), (1, 3, 5)),
    (ones(3, 5), true(3), ones(1, 3, 4), (1, 3, 5)),
    (ones(2, 3, 5, dtype=torch.float64), true(2, 3), ones(2, 3, 4), (2, 3, 5)),
    (ones(2, 3, 5, dtype=torch.bfloat16), None, None, (2, 3, 5)),
]


@pytest.mark.parametrize(("features", "present", "boxes", "shape"), ALLOWED)
def test_one_picture_and_many_become_a_batch(
    features: Tensor, present: Tensor | None, boxes: Tensor | None, shape: tuple[int, int, int]
) -> None:
    regions = Regions(features, present, boxes)
    assert regions.features.shape == shape
    assert regions.features.dtype == features.dtype
    assert len(regions) == shape[0]
    assert (regions.present is None) == (present is None)
    assert (regions.boxes is None) == (boxes is None)
    if regions.present is not None:
        assert regions.present.shape == shape[:2]
    if regions.boxes is not None:
        assert regions.boxes.shape == (*shape[:2], 4)


# Arguments and the whole sentence that refuses them.
REFUSED: list[tuple[tuple[Any, ...], str]] = [
    (
        ([[1.0, 2.0]],),
        f"regions are of the type list; {TENSOR}",
    ),
    (
        (np.ones((3, 5), "float32"),),
        f"regions are of the type ndarray; {TENSOR}",
    ),
    (
        (ones(3, 5), np.ones(3, bool)),
        f"'present' is of the type ndarray; {TENSOR}",
    ),
    (
        (None,),
        f"regions are of the type NoneType; {TENSOR}",
    ),
    ((ones(5),), f"regions have the shape (5,); {SHAPE}"),
    ((torch.tensor(1.0),), f"regions have the shape (); {SHAPE}"),
    ((ones(1, 2, 3, 5),), f"regions have the shape (1, 2, 3, 5); {SHAPE}"),
    ((ones(2, 0, 5),), f"regions have the shape (2, 0, 5); {SHAPE}"),
    ((ones(2, 3, 0),), f"regions have the shape (2, 3, 0); {SHAPE}"),
    ((ones(0, 5),), f"regions have the shape (1, 0, 5); {SHAPE}"),
    (
        (ones(2, 3, 5, dtype=torch.int64),),
        "regions are torch.int64; expected floating-point features",
    ),
    (
        (ones(3, 5, dtype=torch.uint8),),
        "regions are torch.uint8; expected floating-point features",
    ),
    ((true(2, 3, 5),), "regions are torch.bool; expected floating-point features"),
    (
        (ones(2, 3, 5), ones(2, 3)),
        "'present' is torch.float32 of shape (2, 3); expected torch.bool of shape (2, 3)",
    ),
    (
        (ones(2, 3, 5), true(2, 4)),
        "'present' is torch.bool of shape (2, 4); expected torch.bool of shape (2, 3)",
    ),
    (
        (ones(2, 3, 5), true(3)),
        "'present' is torch.bool of shape (3,); expected torch.bool of shape (2, 3)",
    ),
    (
        (ones(2, 3, 5), true(2, 3, 1)),
        "'present' is torch.bool of shape (2, 3, 1); expected torch.bool of shape (2, 3)",
    ),
    (
        (ones(3, 5), true(2, 3)),
        "'present' is torch.bool of shape (2, 3); expected torch.bool of shape (1, 3)",
    ),
    (
        (ones(2, 3, 5), None, ones(2, 3, 5)),
        "'boxes' has the shape (2, 3, 5); expected (2, 3, 4)",
    ),
    (
        (ones(2, 3, 5), None, ones(3, 4)),
        "'boxes' has the shape (3, 4); expected (2, 3, 4)",
    ),
    (
        (ones(3, 5), None, ones(2, 4)),
        "'boxes' has the shape (1, 2, 4); expected (1, 3, 4)",
    ),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_what_is_no_picture_is_refused_in_one_sentence(
    arguments: tuple[Any, ...], sentence: str
) -> None:
    with pytest.raises(FeatureError) as error:
        Regions(*arguments)
    assert str(error.value) == sentence


def test_regions_that_are_there_are_said_by_present_and_not_guessed_from_zeros() -> None:
    features = torch.zeros(2, 3, 5)
    assert Regions(features).there.tolist() == [[True] * 3] * 2
    assert Regions(features).there.dtype == torch.bool
    some = torch.tensor([[True, False, True], [True, True, False]])
    assert torch.equal(Regions(features, some).there, some)


def test_a_bare_tensor_is_a_picture_and_regions_stay_what_they_are() -> None:
    features = torch.randn(3, 5)
    made = Regions.of(features)
    assert torch.equal(made.features, features[None])
    assert made.present is None
    assert made.boxes is None
    regions = Regions(features, true(3))
    assert Regions.of(regions) is regions
    with pytest.raises(FeatureError, match="expected a torch tensor"):
        Regions.of([1.0])  # type: ignore[arg-type]


def test_features_are_neither_copied_nor_changed() -> None:
    features = torch.randn(2, 3, 5)
    assert Regions(features).features.data_ptr() == features.data_ptr()


def test_another_device_takes_all_parts_along() -> None:
    whole = Regions(ones(2, 3, 5), true(2, 3), ones(2, 3, 4)).to("meta")
    for part in (whole.features, whole.present, whole.boxes):
        assert part is not None
        assert part.device.type == "meta"
    bare = Regions(ones(2, 3, 5)).to(torch.device("meta"))
    assert bare.features.device.type == "meta"
    assert bare.present is None
    assert bare.boxes is None


def test_regions_cannot_be_changed_in_place() -> None:
    regions = Regions(ones(2, 3, 5))
    for name in ("features", "present", "boxes"):
        with pytest.raises(FrozenInstanceError):
            setattr(regions, name, None)


def test_regions_are_a_public_name() -> None:
    assert meshcap.Regions is Regions
