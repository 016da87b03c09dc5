"""What a model is made of, as one value; and the paper's rows as a table of such values.

Knows names and numbers; nothing of tensors. `build.py` makes a model of them.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, get_args

from meshcap.errors import SettingError, nearest

Mesh = Literal["full", "one-to-one", "last"]
Gating = Literal["sigmoid", "softmax", "none"]
NormPlace = Literal["mesh", "level"]
Padding = Literal["masked", "attended", "zero-sum"]
Projection = Literal["linear", "relu-norm", "none"]
Positions = Literal["sinusoidal", "table"]
PaddedWords = Literal["ignored", "silenced"]
EncodingOrder = Literal["add-norm", "identity-map"]
Speech = Literal["words", "anything"]
Initialisation = Literal["paper", "authors"]

CHOICES: dict[str, tuple[str, ...]] = {
    "mesh": get_args(Mesh),
    "gates": get_args(Gating),
    "norm": get_args(NormPlace),
    "padding": get_args(Padding),
    "projection": get_args(Projection),
    "positions": get_args(Positions),
    "padded_words": get_args(PaddedWords),
    "encoding_order": get_args(EncodingOrder),
    "speech": get_args(Speech),
    "initialise": get_args(Initialisation),
}


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """One model. The defaults are the paper's M²; every difference of the code has a name."""

    row: str = field(default="", compare=False)
    """Where in the paper this model stands, and what it scored there."""

    # Sizes (section 4.2).
    vocabulary_size: int = 10201
    region_width: int = 2048
    width: int = 512
    heads: int = 8
    encoding_layers: int = 3
    decoding_layers: int = 3
    feed_forward: int = 2048
    memory_slots: int = 40
    dropout: float = 0.1
    longest: int = 54
    """The most words a sentence can have, its end included: the positions there are."""

    # Variants of the paper's tables.
    mesh: Mesh = "full"
    """Which levels a decoding layer attends: all, the one of its own number, or the last."""
    gates: Gating = "sigmoid"
    """Eq. 8; a softmax over the levels; or none, each level counting alike."""
    attention_on_attention: bool = False
    """The baseline of T1: every attention's result is gated by its query."""
    word_vectors: int = 0
    """Width of given word vectors (GloVe), tied to the output; 0: words are learned."""

    # Where the authors' code differs from the paper; the paper's way is the default.
    norm: NormPlace = "mesh"
    """AddNorm after the meshed sum (Eq. 9), or inside it, around each level's attention."""
    padding: Padding = "masked"
    """Absent regions are hidden; or attended as rows of zeros, so that the padding of a batch
    counts (the authors pad to 50 always); or hidden where the projected row happens to sum to
    exactly 0, which is what the code literally asks."""
    projection: Projection = "linear"
    """Regions to the model's width: a linear map; the code's LN(Dropout(ReLU(linear))); or
    none, for regions that have the model's width already."""
    positions: Positions = "sinusoidal"
    """Sinusoids; or a fixed table that weights files carry (the code's is random)."""
    memory_scaled: bool = False
    """The code multiplies memory keys by √d_k and memory values by √m."""
    feed_forward_dropout: bool = False
    """The code has one more dropout inside the feed-forward, after its ReLU."""
    padded_words: PaddedWords = "ignored"
    """Causality alone keeps `<pad>` from earlier words; the code also zeroes its outputs and
    hides it from later words."""
    encoding_order: EncodingOrder = "add-norm"
    """Eq. 5; or the code's `identity_map_reordering`, x + ReLU(sublayer(LN(x)))."""
    speech: Speech = "words"
    """Searches never say `<unk>`, `<pad>`, `<bos>`; or, as in the code, may say anything."""
    initialise: Initialisation = "paper"
    """Initial values of the supplement, or what the code's refill leaves behind."""

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise SettingError(
                    f"model setting '{name}' is {value!r}; expected one of {', '.join(known)}"
                )
        least = {"memory_slots": 0, "word_vectors": 0, "vocabulary_size": 5}
        for name in (
            "vocabulary_size",
            "region_width",
            "width",
            "heads",
            "encoding_layers",
            "decoding_layers",
            "feed_forward",
            "memory_slots",
            "longest",
            "word_vectors",
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least.get(name, 1):
                raise SettingError(
                    f"model setting '{name}' is {value!r}; "
                    f"expected a whole number of at least {least.get(name, 1)}"
                )
        for name in ("attention_on_attention", "memory_scaled", "feed_forward_dropout"):
            if not isinstance(getattr(self, name), bool):
                raise SettingError(
                    f"model setting '{name}' is {getattr(self, name)!r}; expected true or false"
                )
        number = isinstance(self.dropout, (int, float)) and not isinstance(self.dropout, bool)
        if not number or not 0 <= self.dropout < 1:
            raise SettingError(
                f"model setting 'dropout' is {self.dropout!r}; expected a number from 0 up to 1"
            )
        if self.width % self.heads:
            raise SettingError(
                f"model setting 'heads' is {self.heads}, which does not divide 'width' "
                f"{self.width}; expected a divisor of it"
            )
        if self.width % 2 and self.positions == "sinusoidal":
            raise SettingError(
                f"model setting 'width' is {self.width}; expected an even number, "
                "since sinusoidal positions come in pairs of sine and cosine"
            )
        if self.mesh == "one-to-one" and self.decoding_layers > self.encoding_layers:
            raise SettingError(
                f"model setting 'decoding_layers' is {self.decoding_layers}; a one-to-one mesh "
                f"over {self.encoding_layers} encoding layers allows at most as many"
            )
        if self.projection == "none" and self.region_width != self.width:
            raise SettingError(
                f"model setting 'region_width' is {self.region_width}; without a projection "
                f"regions must be as wide as the model, {self.width}"
            )

    def levels_of(self, decoding_layer: int) -> range:
        """The encoding layers (from 0) that a decoding layer (from 0) attends."""
        match self.mesh:
            case "full":
                return range(self.encoding_layers)
            case "one-to-one":
                return range(decoding_layer, decoding_layer + 1)
            case "last":
                return range(self.encoding_layers - 1, self.encoding_layers)

    def to_json(self) -> dict[str, Any]:
        """The settings by name, for a weights file's metadata."""
        return asdict(self)

    @classmethod
    def from_json(cls, settings: Mapping[str, Any]) -> "ModelConfig":
        """The model that `to_json` described; unknown names are refused."""
        known = {each.name for each in fields(cls)}
        for name in settings:
            if name not in known:
                raise SettingError(f"model setting '{name}' is unknown; {nearest(name, known)}")
        return cls(**settings)


M2 = ModelConfig(row="T1, last row; T2: CIDEr 131.2")

_TRANSFORMER = ModelConfig(
    row="T1, Transformer with 3 layers: CIDEr 123.6", memory_slots=0, mesh="last", gates="none"
)

_LAYER_ROWS = {2: "T6, 2 layers: CIDEr 128.5", 4: "T6, 4 layers: CIDEr 129.6"}

VARIANTS: dict[str, ModelConfig] = {
    "m2": M2,
    "m2-no-memory": replace(M2, row="T1, T5: CIDEr 129.4", memory_slots=0),
    "m2-softmax": replace(M2, row="T1, softmax over levels: CIDEr 130.3", gates="softmax"),
    "m2-1to1": replace(M2, row="T1, 1-to-1: CIDEr 129.2", mesh="one-to-one"),
    "m2-1to1-no-memory": replace(
        M2, row="T1, 1-to-1 without memory: CIDEr 128.4", mesh="one-to-one", memory_slots=0
    ),
    "m2-memory-20": replace(M2, row="T5, 20 slots: CIDEr 129.9", memory_slots=20),
    "m2-memory-60": replace(M2, row="T5, 60 slots: CIDEr 129.6", memory_slots=60),
    "m2-memory-80": replace(M2, row="T5, 80 slots: CIDEr 128.9", memory_slots=80),
    **{
        f"m2-layers-{layers}": replace(M2, row=row, encoding_layers=layers, decoding_layers=layers)
        for layers, row in _LAYER_ROWS.items()
    },
    **{
        f"m2-layers-{encoding}-{decoding}": replace(
            M2,
            row=f"T6's question, {encoding} encoding and {decoding} decoding layers: not printed",
            encoding_layers=encoding,
            decoding_layers=decoding,
        )
        for encoding in (2, 3, 4)
        for decoding in (2, 3, 4)
        if encoding != decoding
    },
    "m2-glove": replace(M2, row="T8 (nocaps), GloVe words: CIDEr 64.5 overall", word_vectors=300),
    "m2-authors": replace(
        M2,
        row="the published code; its weights score CIDEr 131.2",
        norm="level",
        padding="attended",
        projection="relu-norm",
        positions="table",
        memory_scaled=True,
        feed_forward_dropout=True,
        padded_words="silenced",
        speech="anything",
        initialise="authors",
    ),
    "transformer": _TRANSFORMER,
    "transformer-6": replace(
        _TRANSFORMER,
        row="T1, Transformer with 6 layers: CIDEr 121.8",
        encoding_layers=6,
        decoding_layers=6,
    ),
    "transformer-glove": replace(
        _TRANSFORMER, row="T8 (nocaps), Transformer: CIDEr 54.7 overall", word_vectors=300
    ),
    "transformer-aoa": replace(
        _TRANSFORMER,
        row="T1, Transformer with attention on attention: CIDEr 129.1",
        attention_on_attention=True,
    ),
}
"""A row for each row of T1, T5, T6 and nocaps. A new variant is one line here."""
