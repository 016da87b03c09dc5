"""Running the official tool: with a stand-in for Java, since the parser's models are not here.

The stand-in checks what it is called with and writes what the real one would. The real jar's
command line was read from its own help; its output's form is the one that the COCO evaluation's
wrapper reads.
"""

import os
import sys
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from zipfile import ZipFile

import numpy as np
import pytest

from meshcap.errors import MissingError
from meshcap.metrics.base import Corpus
from meshcap.metrics.spice.official import CoreNLP, corenlp_of, java_version, run

CORPUS = Corpus(
    ("391895", "7"), ("a man", "a dog runs"), (("two men", "a man"), ("a dog", "dogs", "a cat"))
)

SCRIPT = """\
    #!{python}
    import json, os, sys, time
    from pathlib import Path

    if sys.argv[1:] == ["-version"]:
        print('openjdk version "{version}" 2021-04-20', file=sys.stderr)
        sys.exit()
    memory, flag, classes, main, given, out, printed, *rest = sys.argv[1:]
    assert memory == "-Xmx8G" and flag == "-cp" and out == "-out", sys.argv
    assert main == "edu.anu.spice.SpiceScorer" and rest == ["-subset", "-silent"], sys.argv
    jars = classes.split(os.pathsep)
    assert all(Path(jar).is_file() for jar in jars), jars
    assert [Path(jar).name for jar in jars] == [
        "spice-1.0.jar", "Meteor-1.5.jar",
        "stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar",
    ], jars
    rows = json.loads(Path(given).read_text())
    assert all(set(row) == {{"image_id", "test", "refs"}} for row in rows), rows
    # Scores that tell which caption they are of: words of the candidate, number of references.
    answer = [
        {{
            "image_id": row["image_id"],
            "scores": {{
                "All": {{"f": len(row["test"].split()) / 10, "pr": 0.5, "re": 0.25}},
                "Object": {{"f": len(row["refs"]) / 10, "pr": 1.0, "re": 0.125}},
                "Attribute": {{"f": 0.0, "pr": 0.0, "re": 0.0}},
                "Relation": {{"f": None, "pr": None, "re": None}},
                "Cardinality": {{"f": 1.0, "pr": 1.0, "re": 1.0}},
                "Size": {{"f": 0.75, "pr": 1.0, "re": 0.6}},
            }},
        }}
        for row in reversed(rows)  # the order is not promised
    ]
    target = Path(printed)
    {ending}
"""
WELL = "target.write_text(json.dumps(answer))"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The package with the jar, and a folder with the parser's jars, all of them empty files."""
    library = tmp_path / "site" / "pycocoevalcap" / "spice" / "lib"
    library.mkdir(parents=True)
    for path in (library / "Meteor-1.5.jar", library.parent / "spice-1.0.jar"):
        path.touch()
    monkeypatch.delitem(sys.modules, "pycocoevalcap", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    jars = tmp_path / "corenlp"
    jars.mkdir()
    for name in ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar"):
        (jars / name).touch()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    return jars


@pytest.fixture
def java(tmp_path):
    """Makes a program that answers as Java would."""

    def make(ending=WELL, version="1.8.0_292"):
        path = tmp_path / "java"
        text = dedent(SCRIPT).format(python=sys.executable, version=version, ending=ending)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return make


def test_the_tool_is_given_all_captions_and_its_scores_are_read(installed, java):
    scores = run(CoreNLP(installed, java()), CORPUS)
    nan = np.nan
    np.testing.assert_array_equal(
        scores.f, [[0.2, 0.2, 0.0, nan, 1.0, nan, 0.75], [0.3, 0.3, 0.0, nan, 1.0, nan, 0.75]]
    )
    np.testing.assert_array_equal(scores.precision[:, :2], [[0.5, 1.0], [0.5, 1.0]])
    np.testing.assert_array_equal(scores.recall[:, :2], [[0.25, 0.125], [0.25, 0.125]])


def test_nothing_is_left_of_a_run(installed, java, tmp_path):
    run(CoreNLP(installed, java()), CORPUS)
    with pytest.raises(MissingError):
        run(CoreNLP(installed, java("sys.exit(3)")), CORPUS)
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        (
            "print('Go'); print('java.lang.OutOfMemoryError: heap'); print('end'); sys.exit(1)",
            "official SPICE ended with code 1 and said: java.lang.OutOfMemoryError: heap",
        ),
        ("print('no memory'); sys.exit(2)", "official SPICE ended with code 2 and said: no memory"),
        ("sys.exit(3)", "official SPICE ended with code 3 and said: nothing"),
        ("pass", "official SPICE's output is missing although it ended well"),
        (
            "target.write_text('[{')",
            "official SPICE's output is not JSON: Expecting property name enclosed in double "
            "quotes: line 1 column 3 (char 2)",
        ),
        (
            "target.write_text('{}')",
            "official SPICE's output has not its usual form, a list of pictures with 'scores'",
        ),
        (
            "target.write_text(json.dumps([{'image_id': 0}]))",
            "official SPICE's output has not its usual form, a list of pictures with 'scores'",
        ),
        (
            "target.write_text(json.dumps(answer[1:]))",
            "official SPICE's output holds 1 of the 2 pictures that it was given",
        ),
    ],
)
def test_a_run_that_fails_is_one_sentence(installed, java, ending, message):
    with pytest.raises(MissingError) as error:
        run(CoreNLP(installed, java(ending)), CORPUS)
    assert str(error.value) == message


def test_a_run_that_hangs_is_stopped(installed, java, tmp_path):
    started = tmp_path / "started"
    hanging = f"Path({str(started)!r}).write_text(str(os.getpid())); time.sleep(600)"
    corenlp = replace(CoreNLP(installed, java(hanging)), seconds=2.0)
    with pytest.raises(MissingError, match="had not ended after 2 seconds and was stopped"):
        run(corenlp, CORPUS)
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


def test_a_lot_of_output_does_not_block_the_tool(installed, java):
    noise = f"print('x' * 300_000); print('y' * 300_000, file=sys.stderr); {WELL}"
    assert run(CoreNLP(installed, java(noise)), CORPUS).f[0, 0] == 0.2


@pytest.mark.parametrize(
    ("said", "major"),
    [
        ('java version "1.8.0_292"\nJava(TM) SE', 8),
        ('openjdk version "11.0.2" 2019-01-15', 11),
        ('openjdk version "14" 2020-03-17', 14),
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('Picked up _JAVA_OPTIONS: -Xmx1G\nopenjdk version "1.8.0_1"', 8),
        ("command not found", None),
    ],
)
def test_java_s_version_is_read_from_what_it_prints(said, major):
    assert java_version(said) == major


@pytest.mark.parametrize("version", ["17.0.15", "15", "1.7.0_80"])
def test_a_java_that_cannot_run_the_tool_is_refused_before_it_starts(installed, java, version):
    program = java("raise SystemExit('it was started')", version)
    with pytest.raises(MissingError) as error:
        run(CoreNLP(installed, program), CORPUS)
    major = version.removeprefix("1.").split(".")[0]
    assert str(error.value) == (
        f"official SPICE needs Java 8 to 14, and '{program}' is Java {major}; "
        "name a fitting one by MESHCAP_JAVA"
    )


def test_a_java_that_is_not_there_is_named(installed):
    with pytest.raises(MissingError, match="and 'no-such-java' is no program; name one by MESHCAP"):
        CoreNLP(installed, "no-such-java").check()


@pytest.mark.parametrize(
    ("name", "what"),
    [("stanford-corenlp-3.6.0.jar", "code"), ("stanford-corenlp-3.6.0-models.jar", "models")],
)
def test_a_jar_that_is_not_there_is_named(installed, java, name, what):
    (installed / name).unlink()
    with pytest.raises(MissingError) as error:
        CoreNLP(installed, java()).check()
    assert str(error.value) == (
        f"official SPICE needs '{name}' (CoreNLP 3.6.0's {what}) in '{installed}', which has no "
        "such file; download CoreNLP 3.6.0 and name its folder by MESHCAP_CORENLP"
    )


def test_without_the_package_the_command_to_install_it_is_said(installed, java, monkeypatch):
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
    with pytest.raises(MissingError, match="not installed; run: pip install 'meshcap"):
        CoreNLP(installed, java()).check()


def test_the_package_is_not_imported_to_find_its_jar(installed, java):
    CoreNLP(installed, java()).check()
    assert "pycocoevalcap" not in sys.modules


@pytest.mark.parametrize(
    ("environment", "jars", "expected"),
    [
        ({}, None, None),
        ({"MESHCAP_JAVA": "java8"}, None, None),
        ({"MESHCAP_CORENLP": "jars"}, None, ("jars", "java")),
        ({"MESHCAP_CORENLP": "jars", "MESHCAP_JAVA": "java8"}, None, ("jars", "java8")),
        ({"MESHCAP_CORENLP": "jars"}, "others", ("others", "java")),
    ],
)
def test_the_environment_names_the_jars_and_java(environment, jars, expected):
    found = corenlp_of(environment, jars)
    assert (found and (str(found.jars), found.java)) == expected


def test_the_real_package_s_jar_names_the_class_that_is_started():
    """Against the package itself, where it is installed: the jar's own manifest."""
    package = find_spec("pycocoevalcap")
    if package is None:
        pytest.skip("pycocoevalcap, whose jar this is about, is not installed")
    folder = Path(package.submodule_search_locations[0]) / "spice"
    with ZipFile(folder / "spice-1.0.jar") as jar:
        manifest = jar.read("META-INF/MANIFEST.MF").decode().replace("\r\n ", "")
    fields = dict(line.split(": ", 1) for line in manifest.splitlines() if line)
    assert fields["Main-Class"] == "edu.anu.spice.SpiceScorer"
    wanted = {name.removeprefix("lib/") for name in fields["Class-Path"].split()}
    there = {path.name for path in (folder / "lib").iterdir()}
    assert wanted - there == {"stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar"}
