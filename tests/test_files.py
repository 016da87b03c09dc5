"""Files written whole or not at all, and read within bounds.

Knows folders and bytes; nothing of what files mean.
"""

import errno
import gzip
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from meshcap.errors import FileError
from meshcap.files import (
    existing_file,
    read_bytes,
    read_json,
    read_unpacked,
    write_json,
    written_whole,
)

OLD, NEW = "what was there before", "what comes"


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Writing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", [False, True])
def test_a_file_is_written_under_its_name_and_nothing_is_left_beside_it(
    there: bool, tmp_path: Path
) -> None:
    target = tmp_path / "file.txt"
    if there:
        target.write_text(OLD)
    with written_whole(target) as temporary:
        assert temporary.parent == target.parent, "a rename works within one file system only"
        assert temporary != target
        temporary.write_text(NEW)
        # Until the block is through, readers see what was there.
        assert target.exists() == there
        assert not there or target.read_text() == OLD
    assert target.read_text() == NEW
    assert list(tmp_path.iterdir()) == [target]


def test_a_name_may_be_text(tmp_path: Path) -> None:
    with written_whole(str(tmp_path / "file.txt")) as temporary:
        temporary.write_text(NEW)
    assert (tmp_path / "file.txt").read_text() == NEW


class Unforeseen(Exception):
    """Something that no file module can know."""


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("failure", [Unforeseen, ValueError, KeyboardInterrupt, SystemExit])
def test_a_failed_or_interrupted_block_leaves_all_as_it_was(
    failure: type[BaseException], there: bool, tmp_path: Path
) -> None:
    target = tmp_path / "file.txt"
    if there:
        target.write_text(OLD)
    with pytest.raises(failure, match=r"^midway$"), written_whole(target) as temporary:
        temporary.write_text(NEW[:4])
        raise failure("midway")
    assert list(tmp_path.iterdir()) == ([target] if there else [])
    assert not there or target.read_text() == OLD


def test_a_full_disk_is_one_sentence_and_leaves_all_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "file.txt"
    target.write_text(OLD)
    with pytest.raises(FileError) as error, written_whole(target):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(error.value) == f"'{target}' cannot be written: No space left on device"
    assert isinstance(error.value.__cause__, OSError)
    assert target.read_text() == OLD
    assert list(tmp_path.iterdir()) == [target]


def test_a_rename_that_fails_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, target: Path) -> Path:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    target = tmp_path / "file.txt"
    target.write_text(OLD)
    monkeypatch.setattr(Path, "replace", refused)
    with (
        pytest.raises(FileError, match=r"cannot be written: Operation not permitted$"),
        written_whole(target) as temporary,
    ):
        temporary.write_text(NEW)
    assert target.read_text() == OLD
    assert list(tmp_path.iterdir()) == [target]


def test_a_block_that_removes_its_file_is_one_sentence(tmp_path: Path) -> None:
    target = tmp_path / "file.txt"
    target.write_text(OLD)
    with (
        pytest.raises(FileError, match=r"cannot be written: No such file or directory$"),
        written_whole(target) as temporary,
    ):
        temporary.unlink()
    assert target.read_text() == OLD


@pytest.mark.parametrize(
    ("mask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664), (0o027, 0o640)]
)
def test_permissions_are_those_the_umask_gives_any_file(
    mask: int, expected: int, tmp_path: Path
) -> None:
    with umask(mask):
        (tmp_path / "any").touch()
        with written_whole(tmp_path / "file.txt") as temporary:
            temporary.write_text(NEW)
        assert os.umask(mask) == mask, "the umask is left as it was"
    assert permissions(tmp_path / "file.txt") == permissions(tmp_path / "any") == expected


def test_a_folder_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError) as error, written_whole(tmp_path / "folder"):
        pytest.fail("the block begins")
    assert str(error.value) == (
        f"'{tmp_path / 'folder'}' is a folder; expected the name of a file to write"
    )
    assert [each.name for each in tmp_path.rglob("*")] == ["folder"]


@pytest.mark.parametrize("parent", ["missing", "missing/deeper", "file"])
def test_a_folder_that_is_missing_is_named(parent: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    target = tmp_path / parent / "new.txt"
    with pytest.raises(FileError) as error, written_whole(target):
        pytest.fail("the block begins")
    assert str(error.value) == (
        f"'{target}' cannot be written: the folder '{target.parent}' is missing"
    )
    assert [each.name for each in tmp_path.rglob("*")] == ["file"]


def test_a_folder_that_may_not_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> None:  # asked of the system, root would be allowed
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "touch", refused)
    with pytest.raises(FileError) as error, written_whole(tmp_path / "file.txt"):
        pytest.fail("the block begins")
    assert str(error.value) == f"'{tmp_path / 'file.txt'}' cannot be written: Permission denied"


def test_two_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    target, together = tmp_path / "file.txt", threading.Barrier(2, timeout=10)

    def write(letter: str) -> None:
        with written_whole(target) as temporary:
            temporary.write_text(letter * 1000)
            together.wait()

    writers = [threading.Thread(target=write, args=(letter,)) for letter in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(20)
    assert target.read_text() in ("a" * 1000, "b" * 1000)
    assert list(tmp_path.iterdir()) == [target]


VALUES: list[Any] = [
    None,
    [],
    {"words": ["<unk>", "naïve", "日本", "🐈", "\u2028"], "counts": [1, 2.5, -3, True, None]},
    "only text",
    {"a": {"b": [[], {}]}},
]


@pytest.mark.parametrize("value", VALUES)
def test_json_is_read_as_it_was_written(value: Any, tmp_path: Path) -> None:
    write_json(tmp_path / "file.json", value)
    assert read_json(tmp_path / "file.json") == value
    assert read_json(str(tmp_path / "file.json")) == value


def test_json_is_written_for_people(tmp_path: Path) -> None:
    write_json(tmp_path / "file.json", {"word": "naïve", "counts": [1]})
    expected = '{\n "word": "naïve",\n "counts": [\n  1\n ]\n}\n'
    assert (tmp_path / "file.json").read_bytes() == expected.encode()


def test_what_cannot_be_json_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "file.json"
    write_json(target, [OLD])
    with pytest.raises(TypeError):
        write_json(target, {"a": object()})
    assert read_json(target) == [OLD]
    assert list(tmp_path.iterdir()) == [target]


# Reading -----------------------------------------------------------------------------------------

# Bytes, and the beginning of the sentence after the file's name.
NO_JSON: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "is not JSON: Expecting value"),
    "half": (b'{"words": ["a", "b"', "is not JSON: Expecting ',' delimiter"),
    "two values": (b"{} {}", "is not JSON: Extra data"),
    "a comma too many": (b"[1, 2,]", "is not JSON: "),
    "another quote": (b"['a']", "is not JSON: Expecting value"),
    "no text": (b'["caf\xe9"]', "is not text: byte 5 is not UTF-8; expected JSON"),
    "bytes": (bytes(range(128, 256)), "is not text: byte 0 is not UTF-8; expected JSON"),
    "UTF-16": ("[1]".encode("utf-16"), "is not text: byte 0 is not UTF-8; expected JSON"),
    "a byte order mark": (b"\xef\xbb\xbf[]", "is not JSON: Unexpected UTF-8 BOM"),
    "a null": (b"[1]\0", "is not JSON: Extra data"),
    "deep lists": (b"[" * 200_000, "is not JSON: "),
    "deep lists that close": (b"[" * 200_000 + b"]" * 200_000, "is not JSON: "),
    "deep objects": (b'{"a":' * 200_000 + b"1" + b"}" * 200_000, "is not JSON: "),
    "a number of many digits": (b"1" * 10_000, "is not JSON: "),
}


@pytest.mark.parametrize(("content", "sentence"), NO_JSON.values(), ids=NO_JSON.keys())
def test_what_is_no_json_is_one_sentence(content: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(FileError) as error:
        read_json(path)
    said = str(error.value)
    assert said.startswith(f"'{path}' {sentence}")
    assert "\n" not in said
    assert len(said) < len(str(path)) + 200


def test_a_file_of_just_the_allowed_size_is_read_and_none_that_is_larger(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b"[" + b" " * 1998 + b"]")
    assert existing_file(path, at_most=2000) == path
    assert read_bytes(path, at_most=2000) == path.read_bytes()
    assert read_json(path, at_most=2000) == []
    for reader in (existing_file, read_bytes, read_json):
        with pytest.raises(FileError) as error:
            reader(path, at_most=1999)
        assert str(error.value) == f"'{path}' holds 2,000 bytes; at most 1,999 are allowed"


def test_a_larger_file_than_any_expected_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)  # takes no space

    def opened(self: Path) -> bytes:
        pytest.fail("the file is read")

    monkeypatch.setattr(Path, "read_bytes", opened)
    for reader in (read_bytes, read_json):
        with pytest.raises(FileError, match="holds 67,108,865 bytes; at most 67,108,864"):
            reader(path)


def test_what_is_not_there_or_no_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cases = [
        (tmp_path / "missing", "does not exist"),
        (tmp_path, "is a folder; expected a file"),
        (tmp_path / "file" / "below", "cannot be read: Not a directory"),
    ]
    for path, sentence in cases:
        for read in (read_bytes, read_json):
            with pytest.raises(FileError) as error:
                read(path)
            assert str(error.value) == f"'{path}' {sentence}"


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), "No such file or directory"),
        (PermissionError(errno.EACCES, "Permission denied"), "Permission denied"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
    ],
)
def test_a_file_that_vanishes_or_is_not_for_us_is_one_sentence(
    failure: OSError, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.json"
    path.touch()

    def refused(self: Path) -> bytes:
        raise failure

    monkeypatch.setattr(Path, "read_bytes", refused)
    for read in (read_bytes, read_json):
        with pytest.raises(FileError) as error:
            read(path)
        assert str(error.value) == f"'{path}' cannot be read: {sentence}"


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match="is a pipe or a device; expected a file"):
        read_bytes(pipe)


def test_a_path_with_a_null_character_is_one_sentence() -> None:
    for act in (lambda: read_json("a\0b"), lambda: write_json("a\0b", 1)):
        with pytest.raises(FileError, match="holds a null character"):
            act()


def test_text_that_is_not_unicode_is_one_sentence_and_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    write_json(path, "old")
    with pytest.raises(FileError, match="cannot be written"):
        write_json(path, "\ud800")
    assert read_json(path) == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_as_long_as_file_systems_allow_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    write_json(path, 1)
    assert read_json(path) == 1


def test_what_goes_wrong_with_another_file_is_not_said_of_this_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), written_whole(tmp_path / "out"):
        (tmp_path / "missing").read_bytes()
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_regular_file_is_not_written_over(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match="is a pipe or a device; expected the name of a file"):
        write_json(pipe, 1)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_a_link_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    real, link = tmp_path / "deep" / "real.json", tmp_path / "link.json"
    write_json(real, "old")
    link.symlink_to(real)
    write_json(link, "new")
    assert link.is_symlink()
    assert read_json(real) == "new"
    assert sorted(each.name for each in (tmp_path / "deep").iterdir()) == ["real.json"]


# Unpacking ---------------------------------------------------------------------------------------


def test_a_gzipped_file_is_read_as_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(gzip.compress(b'{"a": 1}'))
    assert read_unpacked(path) == b'{"a": 1}'
    assert read_json(path) == {"a": 1}
    path.write_bytes(b"plain")
    assert read_unpacked(path) == b"plain"


def test_a_file_that_unpacks_to_more_than_allowed_is_not_unpacked_whole(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(50 * 2**20)))
    assert path.stat().st_size < 100_000
    with pytest.raises(FileError, match=r"bomb\.gz' unpacks to more than the 100,000 bytes"):
        read_unpacked(path, at_most=100_000)


@pytest.mark.parametrize("cut", [3, -5])
def test_a_broken_gzip_file_is_one_sentence(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"what is in it" * 99)[:cut])
    with pytest.raises(FileError, match=r"x\.gz' is a broken gzip file"):
        read_unpacked(path)
