"""What tests share: where the golden data and the pictures lie.

Knows paths only. Whatever imports torch belongs to the tests that need it, so that collecting
the others stays fast.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same cases in every run, so that a check turns red by a change only; and no deadline, since
# the first call of a network takes longer than all later ones.
settings.register_profile("meshcap", deadline=None, derandomize=True, database=None)
settings.load_profile("meshcap")

# Two threads on a busy machine wait for each other longer than small networks compute. Must be
# said before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with golden data and pictures, which lies beside the repository.

    MESHCAP_SHARED names another place. A clone on its own has no such folder: its tests are
    skipped, and those with numbers in tests/golden still run.
    """
    named = os.environ.get("MESHCAP_SHARED")
    folder = Path(named) if named else ROOT.parent / "shared"
    if not folder.is_dir():
        hint = "MESHCAP_SHARED names it" if named else "MESHCAP_SHARED can name another place"
        pytest.skip(f"the folder with golden data, '{folder}', is absent ({hint})")
    return folder


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder in which tests, and the programs that they start, keep what can be made again.

    METEOR's data are converted into it once a session; the user's own cache is left alone.
    """
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MESHCAP_CACHE", str(folder))
        patch.delenv("MESHCAP_METEOR", raising=False)
        yield folder


@pytest.fixture(scope="session")
def golden(shared: Path) -> Path:
    """What the authors' code gave for small seeded models."""
    folder = shared / "golden" / "m2"
    if not folder.is_dir():
        pytest.skip(f"the authors' golden data, '{folder}', is absent")
    return folder
