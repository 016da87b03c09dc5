"""The official tools' answers, for the tests of metrics.

Knows where they lie and in which form; nothing of our metrics.
"""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

SMALL = Path(__file__).resolve().parent.parent / "golden" / "scores_48.json"


@pytest.fixture(scope="session")
def thousand(shared):
    """1,000 pictures with what the official tools printed for them."""
    folder = shared / "golden" / "metrics"
    if not folder.is_dir():
        pytest.skip(f"the official tools' golden data, '{folder}', is absent")

    def read(name):
        data = (folder / name).read_bytes()
        return json.loads(gzip.decompress(data) if name.endswith(".gz") else data)

    rows = read("candidates.json")
    pictures = [str(row["image_id"]) for row in rows]
    tokenised = read("tokenised.json.gz")
    scores = read("scores.json.gz")
    return SimpleNamespace(
        pictures=pictures,
        kinds={str(row["image_id"]): row["kind"] for row in rows},
        candidates={str(row["image_id"]): row["caption"] for row in rows},
        references=read("references.json"),
        tokenised_candidates={key: tokenised["candidates"][key] for key in pictures},
        tokenised_references={key: tokenised["references"][key] for key in pictures},
        corpus=scores["corpus"],
        per_picture=scores["per_image"],
    )


@pytest.fixture(scope="session")
def small():
    """48 pictures with the scores of the authors' evaluation; on every clone."""
    return json.loads(SMALL.read_text(encoding="utf-8"))
