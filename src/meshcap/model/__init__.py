"""The network, section 3 of the paper.

Read `attention.py` (Eq. 1–3), `layers.py` (Eq. 4), `encoder.py` (Eq. 5), `decoder.py` (Eq. 6–9),
then `transformer.py`, which puts them together, and `build.py`.
"""

from meshcap.model.build import build
from meshcap.model.config import VARIANTS, ModelConfig
from meshcap.model.state import State, Trace
from meshcap.model.transformer import CaptioningTransformer

__all__ = ["VARIANTS", "CaptioningTransformer", "ModelConfig", "State", "Trace", "build"]
