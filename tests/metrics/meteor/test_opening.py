"""METEOR's data are converted once, kept whole, and made again when they are not what they were."""

import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from meshcap.errors import FileError, MissingError
from meshcap.metrics.cache import CacheWarning
from meshcap.metrics.meteor import meteor, meteor_of, opened, opening, paraphrases
from meshcap.metrics.meteor.arrays import read_arrays, write_arrays
from meshcap.metrics.meteor.sources import JAR, TABLE, fingerprint, located, word_lists

CANDIDATE, REFERENCE = "a dog on top of a couch", "the dog is upon a sofa"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache folder of this test, and nothing open from tests before it."""
    monkeypatch.setenv("MESHCAP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(opening, "_lexicons", {})
    return tmp_path / "cache"


@pytest.fixture
def forget(monkeypatch):
    """The function that makes the next opening read the file again."""
    return lambda: monkeypatch.setattr(opening, "_lexicons", {})


@pytest.fixture
def conversions(monkeypatch):
    """How often the table has been converted."""
    made = []

    def counted(table, watch):
        made.append(table)
        return paraphrases.table_arrays(table, watch)

    monkeypatch.setattr(opening, "table_arrays", counted)
    return made


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def the_file(folder):
    (path,) = folder.iterdir()
    return path


def test_making_a_metric_opens_nothing(tmp_path):
    assert meteor(tmp_path / "absent").name == "meteor"


def test_the_table_is_converted_once(small, folder, forget, conversions):
    first = meteor_of(CANDIDATE, [REFERENCE], small)
    assert len(files(folder)) == 1 == len(conversions)
    forget()
    assert meteor_of(CANDIDATE, [REFERENCE], small) == first
    assert opened(small) is opened(small)
    assert len(files(folder)) == 1 == len(conversions)


def test_conversion_tells_how_far_it_is(small, folder):
    seen = []
    opened(small, lambda read, of: seen.append((read, of)))
    size = (small / "data" / TABLE).stat().st_size
    assert seen
    assert seen[-1] == (size, size)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(lambda data: data[:-1], id="without its last byte"),
        pytest.param(lambda data: data[: len(data) // 2], id="truncated"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: data + b"\0", id="with a byte more"),
        pytest.param(lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:], id="altered"),
        pytest.param(lambda data: b"X" + data[1:], id="of another kind"),
        pytest.param(lambda data: data[:50] + b"}" + data[51:], id="with a broken header"),
    ],
)
def test_a_broken_file_is_noticed_and_made_again(small, folder, forget, conversions, broken):
    expected = meteor_of(CANDIDATE, [REFERENCE], small)
    path = the_file(folder)
    whole = path.read_bytes()
    forget()
    path.write_bytes(broken(whole))
    assert meteor_of(CANDIDATE, [REFERENCE], small) == expected
    assert len(conversions) == 2
    assert path.read_bytes() == whole


def test_changed_data_are_converted_anew(printed, pack, tmp_path, folder):
    place = pack(tmp_path / "data", printed["data"])
    before = meteor_of("a dog", ["upon sofa"], place)[0]
    pack(place, printed["data"], [("0.5", "a dog", "upon sofa")])
    assert before == 0 < meteor_of("a dog", ["upon sofa"], place)[0]
    changed = printed["data"] | {"synsets": {"dog": [1], "rug": [1]}}
    assert meteor_of("dog", ["rug"], place)[0] == 0
    pack(place, changed, [])
    assert meteor_of("dog", ["rug"], place)[0] > 0
    assert len(files(folder)) == 3


def test_the_same_data_elsewhere_need_no_conversion(printed, pack, tmp_path, folder, conversions):
    for name in ("one", "two"):
        opened(pack(tmp_path / name, printed["data"]))
    assert len(files(folder)) == 1 == len(conversions)


def test_other_data_change_the_signature(printed, small, corpus_of):
    found = meteor(small).measure(corpus_of(printed["small"][:1]), lambda finished: None)["meteor"]
    assert found.choices["meteor"] == "1.5"
    assert len(found.choices["meteor-data"]) == 8


def test_processes_that_convert_at_once_all_succeed(small, folder):
    script = (
        "from meshcap.metrics.meteor import meteor_of\n"
        f"print(meteor_of({CANDIDATE!r}, [{REFERENCE!r}], {str(small)!r}))"
    )

    def run(_):
        command = [sys.executable, "-W", "error", "-c", script]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    with ThreadPoolExecutor(3) as several:
        answers = set(several.map(run, range(3)))
    assert answers == {f"{meteor_of(CANDIDATE, [REFERENCE], small)}\n"}
    assert len(files(folder)) == 1, "nobody leaves a temporary file behind"


def test_a_folder_that_cannot_be_written_costs_time_only(small, folder, forget, conversions):
    expected = meteor_of(CANDIDATE, [REFERENCE], small)
    the_file(folder).unlink()
    folder.rmdir()
    folder.write_text("a file where the folder should be")
    for _ in range(2):
        forget()
        with pytest.warns(CacheWarning, match="MESHCAP_CACHE names another folder"):
            assert meteor_of(CANDIDATE, [REFERENCE], small) == expected
    assert len(conversions) == 3


def test_data_that_cannot_be_converted_leave_no_file(printed, pack, tmp_path, folder):
    place = pack(tmp_path / "data", printed["data"], [("no", "number", "here")])
    with pytest.raises(FileError, match=r"is no table of paraphrases: expected a number, a left"):
        opened(place)
    assert not folder.exists() or files(folder) == []


# Where the data are -----------------------------------------------------------------------------


def test_the_environment_names_another_place(small, folder, monkeypatch):
    monkeypatch.setenv("MESHCAP_METEOR", str(small))
    assert located().jar == small / JAR
    assert meteor_of(CANDIDATE, [REFERENCE]) == meteor_of(CANDIDATE, [REFERENCE], small)


def test_the_jar_itself_names_the_place(small, folder, tmp_path):
    assert located(small / JAR) == located(str(small)) == located(small)
    beside = tmp_path / "beside"
    beside.mkdir()
    for path in (small / JAR, small / "data" / TABLE):
        (beside / path.name).write_bytes(path.read_bytes())
    assert located(beside).table == beside / TABLE
    assert fingerprint(located(beside)) == fingerprint(located(small))


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr("meshcap.metrics.meteor.sources.find_spec", lambda name: None)
    with pytest.raises(MissingError, match=r"pip install 'meshcap\[meteor\]' brings them"):
        meteor_of("a", ["a"])


def test_the_package_is_found_without_being_imported(official):
    script = (
        "import sys; from meshcap.metrics.meteor.sources import located; located();"
        "print([name for name in sys.modules if name.startswith(('pycoco', 'torch', 'snowball'))])"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert found.stdout == "[]\n"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("absent", "does not exist"),
        ("empty", f"holds no {JAR}"),
        (f"lonely/{JAR}", f"has no {TABLE} beside the jar"),
        ("lonely", f"has no {TABLE} beside the jar"),
    ],
)
def test_a_named_place_without_data_is_an_error(tmp_path, monkeypatch, place, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "lonely").mkdir()
    (tmp_path / "lonely" / JAR).touch()
    with pytest.raises(FileError, match=message):
        located(tmp_path / place)
    monkeypatch.setenv("MESHCAP_METEOR", str(tmp_path / place))
    with pytest.raises(FileError, match="which MESHCAP_METEOR names"):
        located()


def test_a_jar_that_is_none_is_an_error(small, tmp_path, pack, printed):
    place = pack(tmp_path / "data", printed["data"])
    (place / JAR).write_bytes(b"no zip")
    with pytest.raises(FileError, match="cannot be read as a jar"):
        opened(place)
    with zipfile.ZipFile(place / JAR, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "")
    with pytest.raises(FileError, match=r"holds no synonym/english\.synsets"):
        opened(place)


# The lists and the file -------------------------------------------------------------------------


def test_lists_are_read_as_the_jar_has_them(small, printed):
    lists = word_lists(located(small))
    assert lists.synsets["hound"] == (1, 2)
    assert "ice_cream" not in lists.synsets, "no word of a caption has an underscore"
    assert lists.exceptions == {
        "mice": ("mouse",), "children": ("child",), "oxen": ("ox",), "men": ("man",),
        "walken": ("walk",), "strollen": ("walk",),
    }  # fmt: skip
    assert lists.prefixes == {"vs": False, "e.g": False, "pp": True}
    assert lists.function_words == frozenset(printed["data"]["function_words"])


def test_the_official_lists_have_their_known_sizes(official):
    lists = word_lists(official)
    assert len(lists.function_words) == 93
    assert lists.prefixes["No"] is True
    assert lists.prefixes["vs"] is False
    assert set(lists.exceptions["men"]) == {"man"}


def test_arrays_come_back_as_they_were(tmp_path):
    arrays = {
        "bytes": np.frombuffer(b"some text", np.uint8),
        "none": np.zeros(0, np.uint64),
        "numbers": np.array([0, 2**64 - 1, 5], np.uint64),
    }
    write_arrays(tmp_path / "file", "of this", arrays)
    found = read_arrays(tmp_path / "file", "of this")
    assert found is not None
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert read_arrays(tmp_path / "file", "of that") is None
    assert read_arrays(tmp_path / "absent", "of this") is None
