"""What a picture is to the network: a set of regions.

Knows tensors; nothing of detectors, stores or the network. Which regions are there is said by
`present`; nobody guesses padding from zeros.

Shapes: B pictures, R regions, D_in features a region.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from meshcap.errors import FeatureError


@dataclass(frozen=True, eq=False, repr=False)
class Regions:
    """A batch of pictures, each a set of feature vectors. Accepts one picture, (R, D_in), too."""

    features: Tensor  # (B, R, D_in)
    present: Tensor | None = None  # (B, R) booleans; None: all of them
    boxes: Tensor | None = None  # (B, R, 4), in 0–1 of the picture: left, top, right, bottom

    def __post_init__(self) -> None:
        features, present, boxes = self.features, self.present, self.boxes
        held = [("regions are", features)]
        held += [("'present' is", present)] if present is not None else []
        held += [("'boxes' is", boxes)] if boxes is not None else []
        for what, given in held:
            if not isinstance(given, Tensor):
                kind = type(given).__name__
                raise FeatureError(
                    f"{what} of the type {kind}; expected a torch tensor "
                    "(torch.from_numpy makes one of an array)"
                )
        if features.dim() == 2:
            features = features[None]
            present = present[None] if present is not None and present.dim() == 1 else present
            boxes = boxes[None] if boxes is not None and boxes.dim() == 2 else boxes
        if features.dim() != 3 or 0 in features.shape:
            raise FeatureError(
                f"regions have the shape {tuple(features.shape)}; expected (pictures, regions, "
                "features) or (regions, features), at least one of each"
            )
        if not features.is_floating_point():
            raise FeatureError(f"regions are {features.dtype}; expected floating-point features")
        if present is not None and (
            present.dtype != torch.bool or present.shape != features.shape[:2]
        ):
            raise FeatureError(
                f"'present' is {present.dtype} of shape {tuple(present.shape)}; "
                f"expected torch.bool of shape {tuple(features.shape[:2])}"
            )
        if boxes is not None and boxes.shape != (*features.shape[:2], 4):
            raise FeatureError(
                f"'boxes' has the shape {tuple(boxes.shape)}; expected {(*features.shape[:2], 4)}"
            )
        for what, value in (("present", present), ("boxes", boxes)):
            if value is not None and value.device != features.device:
                raise FeatureError(
                    f"'{what}' is on {value.device}; the features are on {features.device}"
                )
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "present", present)
        object.__setattr__(self, "boxes", boxes)

    @classmethod
    def of(cls, regions: "Regions | Tensor") -> "Regions":
        """Regions as they are; a bare tensor of features as regions that are all present."""
        return regions if isinstance(regions, Regions) else cls(regions)

    def __repr__(self) -> str:
        held = ("features", self.features), ("present", self.present), ("boxes", self.boxes)
        shown = [f"{name} {tuple(each.shape)}" for name, each in held if each is not None]
        return f"Regions({', '.join(shown)})"

    def __len__(self) -> int:
        return self.features.shape[0]

    @property
    def there(self) -> Tensor:
        """`present` spelled out: (B, R) booleans."""
        if self.present is not None:
            return self.present
        return torch.ones(self.features.shape[:2], dtype=torch.bool, device=self.features.device)

    def to(self, device: torch.device | str) -> "Regions":
        """The same regions on another device."""
        return Regions(
            self.features.to(device),
            None if self.present is None else self.present.to(device),
            None if self.boxes is None else self.boxes.to(device),
        )
