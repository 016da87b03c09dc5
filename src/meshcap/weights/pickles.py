"""A file of torch.save, read without running what it says.

Knows PyTorch's two forms of files (a zip archive, and the older "legacy" one) and what may stand
in them; nothing of models or of whose tensors they are.

A pickle is a program. PyTorch's restricted reader runs none of it but the making of tensors,
numbers and containers. The authors' training checkpoints also hold numpy's random state, which it
refuses; numpy's parts are replaced here by stand-ins that take anything and keep nothing.
"""

import re
import tarfile
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import torch
from torch import Tensor
from torch.serialization import add_safe_globals, clear_safe_globals, get_safe_globals

from meshcap.errors import FileError, WeightsError
from meshcap.files import existing_file
from meshcap.weights.assembly import MOST_BYTES, listed, naming

ZIP = b"PK\x03\x04"
LEGACY = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
"""A pickle of the number with which every file of torch.save before 1.6 begins."""


class _Ignored:
    """Stands in for a part of numpy's random state."""

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, _: Any) -> None:
        pass


def _stand_in(module: str, name: str) -> type[_Ignored]:
    # The reader compares the names in the file with __module__ and __name__ of what is allowed.
    return type(name, (_Ignored,), {"__module__": module, "__qualname__": name})


# numpy's modules have other names since numpy 2; files of 2019 have the old ones.
_STAND_INS: list[Any] = [
    _stand_in(module, name)
    for module, name in (
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy.core.multiarray", "scalar"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "scalar"),
    )
]
_one_at_a_time = Lock()


@dataclass(frozen=True)
class Contents:
    """What a file of torch.save holds."""

    tensors: dict[str, Tensor]
    """The state dict's."""
    facts: dict[str, bool | int | float | str]
    """Single values beside the state dict, such as an epoch's number."""


def read_tensors(path: Path | str) -> Contents:
    """The state dict of a checkpoint, or of a file that is nothing but one; on the CPU."""
    found = existing_file(path, at_most=MOST_BYTES)
    with naming(found):
        _expect_torch_file(found)
        whole = _restricted(found)
        state, facts = whole, {}
        if isinstance(whole, Mapping) and "state_dict" in whole:
            state = whole["state_dict"]
            facts = {
                key: value
                for key, value in whole.items()
                if isinstance(key, str) and isinstance(value, bool | int | float | str)
            }
        return Contents(_tensors(state, found.stat().st_size), facts)


def is_torch_file(first: bytes) -> bool:
    """Whether a file that begins so is one of torch.save, by its looks."""
    return first.startswith((ZIP, LEGACY))


def _expect_torch_file(path: Path) -> None:
    try:
        with path.open("rb") as file:
            first = file.read(len(LEGACY))
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}") from error
    if first.startswith(ZIP):
        _expect_plain_zip(path)
        return
    # PyTorch takes a tar archive for a third form and reads it in a way of its own; some versions
    # ran code from it.
    if is_torch_file(first) and not _is_tar(path):
        return
    if not first:
        raise WeightsError("the file is empty; expected a checkpoint of torch.save")
    if b'{"' in first:
        raise WeightsError(
            "no checkpoint of torch.save; a safetensors file?"
            " (`meshcap convert --to-authors` turns a meshcap model into a checkpoint)"
        )
    kind = "a pickle, but not" if first[0] == 0x80 else "not"
    raise WeightsError(f"{kind} a checkpoint of torch.save, or one whose beginning is lost")


def _expect_plain_zip(path: Path) -> None:
    """torch.save compresses nothing: parts that grow when read are somebody's trap."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except Exception as error:  # damaged bytes raise much besides BadZipFile
        raise WeightsError("a zip archive that is truncated or damaged") from error
    packed = [part.filename for part in parts if part.compress_type != zipfile.ZIP_STORED]
    if packed:
        raise WeightsError(
            f"parts of the archive are compressed: {listed(packed)}; torch.save compresses none"
        )
    claimed, size = sum(part.file_size for part in parts), path.stat().st_size
    if claimed > size:
        raise WeightsError(f"its parts claim {claimed:,} bytes; the file holds {size:,}")


def _is_tar(path: Path) -> bool:
    try:
        tarfile.open(path, "r:").close()
    except tarfile.TarError:
        return False
    except Exception as error:  # as for zip archives
        raise WeightsError("a tar archive that is damaged") from error
    return True


@contextmanager
def _only_stand_ins_allowed() -> Iterator[None]:
    """What others have allowed PyTorch to construct does not hold for the authors' files."""
    with _one_at_a_time:
        others = get_safe_globals()
        clear_safe_globals()
        add_safe_globals(_STAND_INS)
        try:
            yield
        finally:
            # PyTorch allows parts of its own when it imports them, which may just have happened.
            imported = [each for each in get_safe_globals() if each not in _STAND_INS]
            clear_safe_globals()
            add_safe_globals([*others, *imported])


def _restricted(path: Path) -> Any:
    try:
        with _only_stand_ins_allowed(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pickle protocols and of storages' types
            return torch.load(path, map_location="cpu", weights_only=True)
    # Foreign bytes can make the reader fail in any way, and each means the same to the user.
    except Exception as error:
        refused = re.search(r"GLOBAL (\S+)", str(error))
        if refused:
            raise WeightsError(
                f"it asks to run {listed([refused[1]])}, which is no part of tensors and was "
                "not run; expected tensors, numbers and random states"
            ) from error
        raise WeightsError(
            f"truncated, damaged, or not made of tensors ({type(error).__name__})"
        ) from error


def _tensors(state: Any, size: int) -> dict[str, Tensor]:
    if not isinstance(state, Mapping):
        raise WeightsError(
            f"the state dict is of type {type(state).__name__}; expected names with tensors"
        )
    foreign = [
        f"{_shown(key)} ({type(value).__name__})"
        for key, value in state.items()
        if not isinstance(key, str) or not _is_plain(value)
    ]
    if foreign:
        raise WeightsError(
            f"no state dict: beside plain tensors there are {listed(foreign)}; "
            "expected 'state_dict', or names with tensors alone"
        )
    if not state:
        raise WeightsError("the state dict is empty; expected names with tensors")
    # A stride of 0 makes a tensor of any size out of one number.
    claimed = sum(each.numel() * each.element_size() for each in state.values())
    held = {each.untyped_storage().data_ptr(): each.untyped_storage() for each in state.values()}
    for what in (claimed, sum(each.nbytes() for each in held.values())):
        if what > size:
            raise WeightsError(f"its tensors claim {what:,} bytes; the file holds {size:,}")
    return {
        name: each.detach().clone(memory_format=torch.contiguous_format)
        for name, each in state.items()
    }


def _is_plain(value: Any) -> bool:
    return (
        type(value) in (Tensor, torch.nn.Parameter)
        and value.layout == torch.strided
        and value.device.type == "cpu"
        and not value.is_quantized
        and not value.is_nested
    )


def _shown(key: Any) -> str:
    return key if isinstance(key, str) else f"a {type(key).__name__}"
