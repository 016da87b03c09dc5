"""The official SPICE, run as it is, for those who have its parser.

Knows the jar's command line, its input and output, and what must be there before it can start;
nothing of how it scores. The jar and its small libraries are in the package pycocoevalcap; the
parser, Stanford CoreNLP 3.6.0 (a jar of code and one of models), is not, and Java 15 and later lack
the JavaScript engine that the jar writes its output with.
"""

import json
import math
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from meshcap.errors import MissingError
from meshcap.metrics.base import Corpus
from meshcap.metrics.spice.scoring import CATEGORIES, Scores

_MAIN = "edu.anu.spice.SpiceScorer"
_CODE, _MODELS = "stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar"
_OLDEST, _NEWEST = 8, 14
# The tool's names of the categories, in their order.
_NAMES = ("All", "Object", "Attribute", "Relation", "Cardinality", "Color", "Size")


@dataclass(frozen=True)
class CoreNLP:
    """Where CoreNLP 3.6.0's two jars are, and the Java to run official SPICE with."""

    jars: Path
    java: str = "java"
    memory: str = "8G"
    """What Java may take (-Xmx); the parser needs about this much."""
    seconds: float = 4 * 3600.0
    """The time after which a run is given up."""

    def check(self) -> list[Path]:
        """The class path, after one sentence about whatever is missing."""
        spice = _spice_folder()
        for name, what in ((_CODE, "code"), (_MODELS, "models")):
            if not (self.jars / name).is_file():
                raise MissingError(
                    f"official SPICE needs '{name}' (CoreNLP 3.6.0's {what}) in '{self.jars}', "
                    "which has no such file; download CoreNLP 3.6.0 and name its folder by "
                    "MESHCAP_CORENLP"
                )
        self._expect_java()
        libraries = sorted((spice / "lib").glob("*.jar"))
        own = [jar for jar in libraries if not jar.name.startswith("stanford-corenlp-")]
        return [spice / "spice-1.0.jar", *own, self.jars / _CODE, self.jars / _MODELS]

    def _expect_java(self) -> None:
        wanted = f"official SPICE needs Java {_OLDEST} to {_NEWEST}"
        program = which(self.java)
        if program is None:
            raise MissingError(
                f"{wanted}, and '{self.java}' is no program; name one by MESHCAP_JAVA"
            )
        try:
            asked = subprocess.run(
                [program, "-version"], capture_output=True, text=True, timeout=60, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MissingError(
                f"{wanted}, and '{self.java} -version' does not run ({error}); name another by "
                "MESHCAP_JAVA"
            ) from error
        said = asked.stderr + asked.stdout
        found = java_version(said)
        if found is None or not _OLDEST <= found <= _NEWEST:
            shown = f"is Java {found}" if found else f"says '{said.strip()[:80]}'"
            raise MissingError(
                f"{wanted}, and '{self.java}' {shown}; name a fitting one by MESHCAP_JAVA"
            )


def java_version(said: str) -> int | None:
    """The major version in what `java -version` prints: 8 for "1.8.0_292", 17 for "17.0.15"."""
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else None


def corenlp_of(environment: Mapping[str, str], jars: Path | str | None = None) -> CoreNLP | None:
    """CoreNLP at a place, or where MESHCAP_CORENLP says; Java by MESHCAP_JAVA; None for neither."""
    place = jars or environment.get("MESHCAP_CORENLP")
    if not place:
        return None
    found = CoreNLP(Path(place))
    java = environment.get("MESHCAP_JAVA")
    return replace(found, java=java) if java else found


def run(corenlp: CoreNLP, corpus: Corpus) -> Scores:
    """Official SPICE's scores of each picture."""
    classes = os.pathsep.join(str(jar.resolve()) for jar in corenlp.check())
    with TemporaryDirectory(prefix="meshcap-spice-") as folder:
        given, printed, said = (Path(folder) / name for name in ("in.json", "out.json", "said"))
        rows = [
            {"image_id": number, "test": candidate, "refs": list(references)}
            for number, (candidate, references) in enumerate(
                zip(corpus.candidates, corpus.references, strict=True)
            )
        ]
        given.write_text(json.dumps(rows), encoding="utf-8")
        command = [which(corenlp.java) or corenlp.java, f"-Xmx{corenlp.memory}", "-cp", classes]
        command += [_MAIN, str(given), "-out", str(printed), "-subset", "-silent"]
        _wait(command, said, corenlp.seconds, Path(folder))
        return _scores(printed, len(corpus))


def _spice_folder() -> Path:
    package = find_spec("pycocoevalcap")
    for place in (package.submodule_search_locations or ()) if package else ():
        folder = Path(place) / "spice"
        if (folder / "spice-1.0.jar").is_file():
            return folder
    raise MissingError(
        "official SPICE needs the jar in the package pycocoevalcap, which is not installed; "
        "run: pip install 'meshcap[meteor]'"
    )


def _wait(command: Sequence[str], said: Path, seconds: float, folder: Path) -> None:
    """Run a command to its end; what it prints goes into a file, so that no pipe fills up."""
    with said.open("wb") as output:
        # A session of its own, so that whatever it starts can be ended with it.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise MissingError(
                f"official SPICE had not ended after {seconds:,.0f} seconds and was stopped; "
                "score fewer pictures at a time, or allow it more"
            ) from error
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if code:
        lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        reason = next((line for line in lines if "Exception" in line or "Error" in line), None)
        last = reason or (lines[-1] if lines else "nothing")
        raise MissingError(f"official SPICE ended with code {code} and said: {last.strip()[:300]}")


def _scores(path: Path, pictures: int) -> Scores:
    where = "official SPICE's output"
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MissingError(f"{where} is missing although it ended well") from error
    except ValueError as error:
        raise MissingError(f"{where} is not JSON: {error}") from error
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("scores"), dict) for row in rows
    ):
        raise MissingError(f"{where} has not its usual form, a list of pictures with 'scores'")
    by_number = {str(row.get("image_id")): row["scores"] for row in rows}
    wanted = [str(number) for number in range(pictures)]
    missing = [number for number in wanted if number not in by_number]
    if missing:
        raise MissingError(
            f"{where} holds {pictures - len(missing):,} of the {pictures:,} pictures that it was "
            "given"
        )
    f, precision, recall = (
        np.array(
            [[_number(by_number[number], name, key) for name in _NAMES] for number in wanted],
            dtype=np.float64,
        ).reshape(pictures, len(CATEGORIES))
        for key in ("f", "pr", "re")
    )
    return Scores(f, precision, recall)


def _number(scores: dict[str, Any], name: str, key: str) -> float:
    """A category's value; null, or an absent category, is one without a value."""
    category = scores.get(name)
    value = category.get(key) if isinstance(category, dict) else None
    return float(value) if isinstance(value, int | float) else math.nan
