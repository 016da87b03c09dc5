"""Captions are read from every form that they come in, and what is wrong in a file is named.

Knows the forms by hand-made files; broken and hostile bytes are in tests/hostile.
"""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.data import captions_in, captions_of, merged, read_captions, read_references
from meshcap.errors import CaptionError, FileError, SettingError

# The same two pictures in every form: what a file holds, the form, the pictures' kind of name.
NAMED = {"9": ("a cat", "cats"), "61": ("two dogs",)}
KARPATHY = {
    "images": [
        {
            "cocoid": 9,
            "imgid": 0,
            "filename": "COCO_val2014_000000000009.jpg",
            "split": "test",
            "sentences": [{"raw": "a cat", "tokens": ["a", "cat"]}, {"raw": "cats"}],
        },
        {
            "cocoid": 61,
            "imgid": 1,
            "filename": "COCO_val2014_000000000061.jpg",
            "split": "restval",
            "sentences": [{"raw": "two dogs"}],
        },
    ],
    "dataset": "coco",
}
COCO = {
    "info": {},
    "images": [{"id": 9, "file_name": "9.jpg"}, {"id": 61, "file_name": "61.jpg"}],
    "annotations": [
        {"id": 1, "image_id": 9, "caption": "a cat"},
        {"id": 2, "image_id": 61, "caption": "two dogs"},
        {"id": 3, "image_id": 9, "caption": "cats"},
    ],
}
ENTRIES = [
    {"image_id": 9, "caption": "a cat"},
    {"image_id": 61, "caption": "two dogs"},
    {"image_id": 9, "caption": "cats"},
]


def json_lines(entries) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


FORMS = {
    "COCO captions": (json.dumps(COCO), "image_id"),
    "COCO captions without images": (
        json.dumps({"annotations": COCO["annotations"]}),
        "image_id",
    ),
    "Karpathy's form": (json.dumps(KARPATHY), "cocoid"),
    "COCO results": (json.dumps(ENTRIES), "image_id"),
    "COCO results, spread out": (json.dumps(ENTRIES, indent=2), "image_id"),
    "JSON lines": (json_lines(ENTRIES), "image_id"),
    "JSON lines with lists": (
        json_lines([{"id": "9", "captions": ["a cat", "cats"]}, {"id": "61", "text": "two dogs"}]),
        "id",
    ),
    "JSON lines of references": (
        "\n"
        + json_lines(
            [
                {"file": "9", "references": ["a cat", {"caption": "cats"}]},
                {"file": "61", "references": ["two dogs"]},
            ]
        )
        + "\n",
        "file",
    ),
    "an object of pictures": (json.dumps(NAMED), "id"),
    "an object of pictures, as pycocoevalcap has it": (
        json.dumps({name: [{"caption": each} for each in texts] for name, texts in NAMED.items()}),
        "id",
    ),
    "lines of picture and caption": ("9\ta cat\n61\ttwo dogs\n9\tcats\n", "file"),
    "lines of picture and caption, of Windows": ("9\ta cat\r\n61\ttwo dogs\r\n9\tcats", "file"),
    "Flickr's token lines": ("9#0\ta cat\n9#1\tcats\n61#0\ttwo dogs\n", "file"),
    "columns of text": ('image,caption\n9,a cat\n61,"two dogs"\n\n9,cats\n', "image"),
    "columns of text, Flickr30k's": (
        "image_name| comment_number| comment\n9| 0| a cat\n9| 1| cats\n61| 0| two dogs\n",
        "image_name",
    ),
    "columns of text with tabs": (
        "caption\tsize\tfile\na cat\t1\t9\ncats\t\t9\ntwo dogs\t3\t61",
        "file",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_captions(name):
    text, named_by = FORMS[name]
    found = captions_of(text, source="x")
    assert found.by_picture == NAMED
    assert list(found.by_picture) == ["9", "61"], "in the order of the file"
    assert found.named_by == named_by
    assert name.startswith(found.form)
    assert not found.numbered


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("file", ["x.json", "x.txt", "x"])
def test_the_form_is_seen_in_the_content_and_not_in_the_name(name, file, tmp_path):
    path = tmp_path / file
    path.write_text(FORMS[name][0], encoding="utf-8")
    assert read_captions(path).by_picture == NAMED
    path.write_bytes(gzip.compress(FORMS[name][0].encode()))
    assert read_captions(path).by_picture == NAMED
    path.write_bytes(b"\xef\xbb\xbf" + FORMS[name][0].encode())
    assert read_captions(path).by_picture == NAMED, "a byte order mark is no part of the text"


def test_lines_are_numbered_from_one_and_empty_ones_count():
    found = captions_of("a cat\n\ntwo dogs", source="x")
    assert found.by_picture == {"1": ("a cat",), "2": ("",), "3": ("two dogs",)}
    assert (found.form, found.numbered) == ("lines of text", True)


def test_a_list_of_captions_is_numbered_like_lines():
    for text in ('["a cat", "two dogs"]', '[["a cat"], ["two dogs"]]'):
        found = captions_of(text, source="x")
        assert found.by_picture == {"1": ("a cat",), "2": ("two dogs",)}
        assert found.numbered


def test_only_line_feeds_end_lines():
    text = "a\u2028b\x0bc\rd\x85e\nf"
    assert captions_of(text, source="x").by_picture == {
        "1": ("a\u2028b\x0bc\rd\x85e",),
        "2": ("f",),
    }


def test_captions_are_kept_as_they_were_written():
    written = {"1": ["  A  Cat.\t", "", "naïve 😀 \u00a0", '"quoted"']}
    assert captions_of(json.dumps(written), source="x").by_picture["1"] == tuple(written["1"])


def test_a_quoted_caption_is_text_and_no_json():
    assert captions_of('"a cat"\n', source="x").by_picture == {"1": ('"a cat"',)}


def test_what_caption_prints_is_read_by_its_best_caption():
    hypotheses = [
        {"text": "a cat", "log_probability": -1.5, "words": []},
        {"text": "a dog", "log_probability": -2.5, "words": []},
    ]
    entry = {"file": "p/a.jpg", "caption": "a cat", "captions": hypotheses, "model": "m2"}
    for text in (json.dumps(entry), json_lines([entry])):
        found = captions_of(text, source="x")
        assert found.by_picture == {"p/a.jpg": ("a cat",)}
        assert found.form == "JSON lines"


def test_further_names_and_splits_are_known():
    found = captions_of(json.dumps(KARPATHY), source="x")
    assert found.also == {
        "imgid": {"9": "0", "61": "1"},
        "file": {"9": "COCO_val2014_000000000009.jpg", "61": "COCO_val2014_000000000061.jpg"},
    }
    assert found.splits == {"9": "test", "61": "restval"}
    assert captions_of(json.dumps(COCO), source="x").also == {
        "file": {"9": "9.jpg", "61": "61.jpg"}
    }
    entries = [{"image_id": 9, "file_name": "9.jpg", "caption": "a cat"}]
    assert captions_of(json.dumps(entries), source="x").also == {"file": {"9": "9.jpg"}}


def test_flickr_s_pictures_are_known_by_number_and_file_name():
    images = [
        {"imgid": 3, "filename": "a.jpg", "split": "val", "sentences": [{"raw": "a cat"}]},
    ]
    found = captions_of(json.dumps({"images": images, "dataset": "flickr8k"}), source="x")
    assert (found.named_by, found.by_picture) == ("imgid", {"3": ("a cat",)})
    assert found.also == {"file": {"3": "a.jpg"}}
    del images[0]["imgid"]
    found = captions_of(json.dumps({"images": images}), source="x")
    assert (found.named_by, found.by_picture) == ("file", {"a.jpg": ("a cat",)})


def test_splits_are_chosen_by_name():
    found = captions_of(json.dumps(KARPATHY), source="x")
    test = found.of_splits(["test"])
    assert test.by_picture == {"9": ("a cat", "cats")}
    assert test.also["imgid"] == {"9": "0"}
    assert test.splits == {"9": "test"}
    assert found.of_splits(["restval", "test"]).by_picture == NAMED
    with pytest.raises(SettingError, match="'x' has no split 'tets'; did you mean 'test'"):
        found.of_splits(["tets"])
    with pytest.raises(SettingError, match="'x' says no splits"):
        captions_of(json.dumps(COCO), source="x").of_splits(["test"])


def test_a_picture_that_is_listed_without_caption_is_kept():
    images = [*COCO["images"], {"id": 7, "file_name": "7.jpg"}]
    found = captions_of(json.dumps(COCO | {"images": images}), source="x")
    assert found.by_picture == NAMED | {"7": ()}
    with pytest.raises(CaptionError, match="picture '9' has 2 captions"):
        found.one_each()


def test_a_file_may_hold_a_pipe_s_bytes():
    assert captions_in(gzip.compress(b"a cat\n"), source="x").by_picture == {"1": ("a cat",)}


# ---- several files


def test_lines_in_parallel_files_are_each_picture_s_references(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a").write_text("a cat\ntwo dogs\n", encoding="utf-8")
    Path("b").write_text("cats\n \n", encoding="utf-8")
    Path("c").write_text('["one cat", "dogs"]', encoding="utf-8")
    found = read_references(["a", "b", "c"])
    assert found.by_picture == {"1": ("a cat", "cats", "one cat"), "2": ("two dogs", "dogs")}
    assert found.numbered


def test_a_line_that_is_empty_in_all_files_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a").write_text("a cat\n\n", encoding="utf-8")
    for paths, names in ((["a"], "'a'"), (["a", "a"], "'a', 'a'")):
        with pytest.raises(CaptionError, match=f"{names}: line 2 is empty; expected at least one"):
            read_references(paths)


def test_an_empty_reference_in_json_is_a_reference(tmp_path):
    path = tmp_path / "r"
    path.write_text('{"1": ["", "a cat"]}', encoding="utf-8")
    assert read_references([path]).by_picture == {"1": ("", "a cat")}


def test_files_that_name_pictures_are_merged_by_name():
    parts = [
        captions_of(json.dumps(COCO), source="a"),
        captions_of('{"9": "a third", "7": ["new"]}', source="b"),
    ]
    found = merged(parts)
    assert found.by_picture == NAMED | {"9": ("a cat", "cats", "a third"), "7": ("new",)}
    assert found.form == "COCO captions, an object of pictures"
    assert found.source == "a', 'b"
    assert found.also == {"file": {"9": "9.jpg", "61": "61.jpg"}}
    assert parts[0].by_picture == NAMED, "the parts stay as they were"


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ("a\nb\n", "a\n", "'a' has 2 lines, 'b' 1; expected parallel files"),
        ("a\nb\n", '{"1": "x"}', "'a' numbers its pictures by line, 'b' names them"),
        ('{"1": "x"}', "a\nb\n", "'b' numbers its pictures by line, 'a' names them"),
        (
            '[{"image_id": 1, "file_name": "a.jpg", "caption": "x"}]',
            '[{"image_id": 1, "file_name": "b.jpg", "caption": "x"}]',
            "'b': the file of picture '1' is 'b.jpg', and 'a.jpg' in another file",
        ),
    ],
)
def test_files_that_do_not_belong_together_are_refused(first, second, sentence):
    with pytest.raises(CaptionError, match=sentence):
        merged([captions_of(first, source="a"), captions_of(second, source="b")])


def test_no_file_is_refused():
    with pytest.raises(SettingError, match="no files of references"):
        read_references([])


# ---- what is wrong

WRONG = {
    # nothing
    "": "'x' is empty",
    " \n\n ": "'x' is empty",
    "[]": "'x' is JSON, an empty list; expected COCO's results or captions, Karpathy's form",
    "{}": "'x' is JSON, an empty object; expected",
    "null": "'x' holds the JSON value null; expected captions",
    "17": "'x' holds the JSON value 17; expected captions",
    "true\n": "'x' holds the JSON value true",
    '{"images": [], "annotations": []}': "'x' holds no captions (COCO captions)",
    '{"1": []}': "'x' holds no captions (an object of pictures)",
    # foreign JSON
    "[1, 2]": "'x' is JSON, a list of 2 whose first is 1; expected",
    "[null]": "whose first is null",
    '{"a": 1, "b": {}}': "'x' is JSON, an object with the keys 'a', 'b'; expected",
    '{"images": [{"id": 1}]}': "'x': 'annotations' is missing; found an object with",
    '{"images": [{"id": 1}], "annotations": null}': "'x': 'annotations' is null; expected a list",
    '{"images": 1, "annotations": []}': "'x': 'images' is 1; expected a list",
    '{"format": "meshcap scores", "version": 1}': "'x' holds meshcap scores; expected captions",
    # entries
    '[{"image_id": 1, "caption": 2}]': "'x', entry 1: 'caption' is 2; expected text or a list",
    '[{"image_id": 1, "caption": null}]': "'x', entry 1: 'caption' is null",
    '[{"image_id": 1, "caption": ["a", 2]}]': "'x', entry 1: 'caption' holds 2; expected texts",
    '[{"image_id": 1, "caption": [{"b": 2}]}]': "'caption' holds an object with the keys 'b'",
    '[{"image_id": 1, "caption": "a"}, {"image_id": 1}]': "'x', entry 2: 'caption' is missing; "
    "found an object with the keys 'image_id'",
    '[{"image_id": 1, "caption": "a"}, 7]': "'x', entry 2: found 7; expected an object",
    '[{"caption": "a"}]': "'x', entry 1: found an object with the keys 'caption'; expected the "
    "picture as one of image_id, picture, file",
    '[{"image_id": null, "caption": "a"}]': "entry 1: 'image_id' is null; expected a whole number",
    '[{"image_id": 1.5, "caption": "a"}]': "entry 1: 'image_id' is 1.5; expected a whole number",
    '[{"image_id": true, "caption": "a"}]': "entry 1: 'image_id' is true; expected a whole number",
    '[{"image_id": "", "caption": "a"}]': "entry 1: 'image_id' is ''; expected a whole number",
    '[{"image_id": [1], "caption": "a"}]': "entry 1: 'image_id' is a list of 1; expected a whole",
    '[{"image_id": 1, "caption": "a"}, {"id": 1, "caption": "a"}]': "entry 2: 'image_id' is "
    "missing, which others have",
    '[{"image_id": 1, "caption": "a", "captions": ["b"]}]': "there are both 'caption' and",
    '{"file": "a.jpg", "error": "no picture"}': "'x', line 1: picture 'a.jpg' has an error for a "
    "caption: 'no picture'",
    # JSON lines
    '{"id": 1, "caption": "a"}\n[1]\n': "'x', line 2: found a list of 1; expected an object",
    '{"id": 1, "caption": "a"}\n\n{"id": 2}\n': "'x', line 3: 'caption' is missing",
    # COCO
    '{"annotations": [{"image_id": 1}]}': "'x', annotations, entry 1: 'caption' is missing",
    '{"annotations": [{"caption": "a"}]}': "'x', annotations, entry 1: 'image_id' is missing",
    '{"annotations": [{"image_id": 1, "caption": ["a"]}]}': "'caption' is a list of 1;",
    '{"images": [{"id": 1}, {"id": 1}], "annotations": []}': "'x', images, entry 2: picture '1' is "
    "listed a second time",
    '{"images": [{"id": 1}], "annotations": [{"image_id": 2, "caption": "a"}]}': "annotations, "
    "entry 1: picture '2' is not among the images",
    '{"images": [{"id": 1, "file_name": 2}], "annotations": []}': "'file_name' is 2; expected text",
    # Karpathy
    '{"images": [{"imgid": 1, "sentences": [{"tokens": []}]}]}': "'x', images, entry 1: 'raw' is "
    "missing",
    '{"images": [{"imgid": 1, "sentences": [{"raw": 5}]}]}': "'raw' is 5; expected text",
    '{"images": [{"imgid": 1, "sentences": ["a"]}]}': "found 'a'; expected an object",
    '{"images": [{"imgid": 1, "sentences": []}, {"imgid": 2}]}': "images, entry 2: 'sentences' is "
    "missing",
    '{"images": [{"sentences": []}]}': "'x', images, entry 1: 'imgid' is missing",
    '{"images": [{"imgid": 1, "sentences": []}, 5]}': "images, entry 2: found 5; expected",
    '{"images": [{"imgid": 1, "split": 5, "sentences": []}]}': "'split' is 5; expected text",
    '{"images": [{"imgid": 1, "sentences": []}, {"imgid": 1, "sentences": []}]}': "picture '1' is "
    "listed a second time",
    # objects and lists
    '{"1": "a", "2": 5}': "'x', key 2: the caption of '2' is 5; expected text or a list of texts",
    '{"1": "a", "2": ["b", null]}': "'x', key 2: the caption of '2' holds null; expected texts",
    '{"": "a"}': "'x', key 1: the picture's name is empty",
    '["a", 5]': "'x', entry 2: the caption is 5; expected text or a list of texts",
    # text
    "a.jpg\ta cat\na dog\n": "'x', line 2: there is no tab, as there is in others",
    "\ta cat\n": "'x', line 1: the picture's name before the tab is empty",
    "image,caption\na.jpg,a cat, and a dog\n": "'x', line 2: found 3 columns; expected 2",
    "image,caption\na.jpg\n": "'x', line 2: found 1 columns; expected 2",
    "image,caption\n,a cat\n": "'x', line 2: the picture's name is empty",
    "image,caption\n": "'x' holds no captions (columns of text)",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_named(text):
    with pytest.raises(CaptionError) as told:
        captions_of(text, source="x")
    assert WRONG[text] in str(told.value)
    assert str(told.value).startswith("'x'")
    assert "\n" not in str(told.value)


BROKEN = {
    '[{"image_id": 1,\n "caption": }]': "'x' is broken JSON at line 2, column 13: Expecting value",
    '{"1": "a": "b"}': "'x' is broken JSON at line 1, column 10",
    '{"1": "a", "2"': "'x' is broken JSON at line 1, column 15",
    '{"1": "a"} {"2": "b"}': "'x' is broken JSON at line 1, column 12: Extra data",
    '{"1": "a", "1": "b"}': "'x' holds the key '1' twice in one object",
    '[{"image_id": 1, "caption": "a", "caption": "b"}]': "'x' holds the key 'caption' twice",
    '{"id": 1, "caption": "a"}\n{"id": 2, "caption": }\n': "'x' is broken JSON at line 2, column",
    '{"id": 1, "caption": "a"}\n{"id": 2, "id": 3, "caption": "a"}\n': "'x', line 2, holds the key "
    "'id' twice",
    '{"id": 1, "caption": }\n{"id": 2, "caption": "a"}\n': "'x' is broken JSON at line 1, column",
    '{"id": 1, "caption": "a"}\n{"id": 2, "capt': "'x' is broken JSON at line 2",
    "[" * 100_000: "'x' is JSON that is nested too deeply",
    '{"1": ' + "7" * 5000 + "}": "'x' is JSON that cannot be read: Exceeds the limit",
    "[unk] a cat\n": "'x' is broken JSON at line 1, column 2",
    'image,caption\na.jpg,"a cat\n': "'x' is broken at line 2: unexpected end of data",
}


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:40])
def test_where_a_document_breaks_is_named(text):
    with pytest.raises(FileError) as told:
        captions_of(text, source="x")
    assert BROKEN[text] in str(told.value)


# ---- any content

PICTURES = st.text(min_size=1, max_size=6)
CAPTIONS = st.text(max_size=12)


@given(st.dictionaries(PICTURES, st.lists(CAPTIONS, min_size=1, max_size=3), min_size=1))
def test_any_names_and_captions_come_back_from_json(captions):
    expected = {picture: tuple(texts) for picture, texts in captions.items()}
    entries = [{"image_id": each, "caption": texts} for each, texts in captions.items()]
    annotations = [
        {"image_id": each, "caption": text} for each, texts in captions.items() for text in texts
    ]
    for value in (entries, annotations, {"annotations": annotations}):
        assert captions_of(json.dumps(value), source="x").by_picture == expected
    for value in (entries, annotations):
        assert captions_of(json_lines(value), source="x").by_picture == expected


@given(
    st.one_of(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        ["images", "annotations", "sentences", "image_id", "caption", "raw", "id"]
                    )
                    | st.text(max_size=3),
                    inner,
                    max_size=3,
                )
            ),
            max_leaves=12,
        ).map(json.dumps),
    )
)
def test_any_text_is_captions_or_one_sentence(text):
    try:
        found = captions_of(text, source="x")
    except (CaptionError, FileError) as error:
        assert str(error).startswith("'x'")
    else:
        assert any(found.by_picture.values())


def test_the_captions_at_hand_are_read_whole(shared):
    folder = shared / "data"
    if not folder.is_dir():
        pytest.skip(f"'{folder}' is absent")
    # Counts of the folder's README.
    coco = read_captions(folder / "coco" / "captions_train.json")
    assert (len(coco), sum(map(len, coco.by_picture.values()))) == (17_463, 58_213)
    flickr = read_captions(folder / "flickr8k" / "dataset_flickr8k.json")
    assert (len(flickr), sum(map(len, flickr.by_picture.values()))) == (8_000, 40_000)
    sizes = {name: len(flickr.of_splits([name])) for name in ("train", "val", "test")}
    assert sizes == {"train": 6_000, "val": 1_000, "test": 1_000}
