"""Progress: where it is drawn, how often, what it says, and that nothing of it stays.

Knows a terminal of letters and a clock that stands still.
"""

import io

import pytest

from meshcap.cli.terminal import Progress, _in_words


class Terminal(io.StringIO):
    """Keeps what is written, and says that a person looks at it."""

    def isatty(self) -> bool:
        return True

    def looks(self) -> str:
        """What stands on the line in the end."""
        line = self.getvalue().rpartition("\r")[2]
        return line.partition("\x1b[K")[0]


class Clock:
    """Goes on when it is told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def terminal_of_letters(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


def test_it_says_what_how_far_and_how_long():
    terminal, clock = Terminal(), Clock()
    with Progress(stream=terminal, clock=clock) as progress:
        progress("meteor", 0, 4000)
        clock.now += 5
        progress("meteor", 1000, 4000)
        assert terminal.looks() == "meteor [#####...............] 1,000 of 4,000, 15 s left"
    assert terminal.looks() == "", "it is erased in the end"


def test_what_is_done_soon_is_not_shown():
    terminal, clock = Terminal(), Clock()
    with Progress(stream=terminal, clock=clock) as progress:
        for finished in range(100):
            clock.now += 0.004
            progress("bleu", finished, 100)
    assert terminal.getvalue() == ""


def test_it_is_drawn_ten_times_a_second_at_most():
    terminal, clock = Terminal(), Clock()
    with Progress(stream=terminal, clock=clock) as progress:
        for finished in range(10_000):
            clock.now += 0.001
            progress("bleu", finished, 10_000)
    assert 80 < terminal.getvalue().count("bleu") <= 96


def test_time_left_begins_anew_with_other_work():
    terminal, clock = Terminal(), Clock()
    with Progress(stream=terminal, clock=clock) as progress:
        progress("slow", 0, 10)
        clock.now += 60
        progress("fast", 1, 10)
        assert terminal.looks() == "fast [##..................] 1 of 10"
        clock.now += 4
        progress("fast", 2, 10)
        assert terminal.looks() == "fast [####................] 2 of 10, 16 s left"


@pytest.mark.parametrize("ended_by", [ValueError, KeyboardInterrupt])
def test_it_is_erased_whatever_ends_it(ended_by):
    terminal, clock = Terminal(), Clock()
    with pytest.raises(ended_by), Progress(stream=terminal, clock=clock) as progress:
        clock.now += 1
        progress("meteor", 1, 2)
        assert "meteor" in terminal.looks()
        raise ended_by
    assert terminal.looks() == ""


@pytest.mark.parametrize("why", ["a file", "quiet", "a dumb terminal"])
def test_it_is_for_people_at_a_terminal(why, monkeypatch):
    terminal, clock = io.StringIO() if why == "a file" else Terminal(), Clock()
    if why == "a dumb terminal":
        monkeypatch.setenv("TERM", "dumb")
    with Progress(stream=terminal, clock=clock, quiet=why == "quiet") as progress:
        clock.now += 1
        progress("meteor", 1, 2)
    assert terminal.getvalue() == ""


def test_it_stays_on_one_line_and_commands_no_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    terminal, clock = Terminal(), Clock()
    with Progress(stream=terminal, clock=clock) as progress:
        clock.now += 1
        progress("a\x1b[2Jb\n", 1, 2)
        assert terminal.looks() == "a\\x1b[2Jb\\n [######", "19 letters of 20"


def test_more_than_all_and_nothing_at_all_are_all():
    terminal, clock = Terminal(), Clock()
    with Progress(stream=terminal, clock=clock) as progress:
        clock.now += 1
        progress("tokens", 3, 2)
        assert terminal.looks() == f"tokens [{'#' * 20}] 3 of 2"
        clock.now += 1
        progress("tokens", 0, 0)
        assert terminal.looks() == f"tokens [{'#' * 20}] 0 of 0"


def test_a_terminal_that_is_gone_stops_no_work():
    terminal, clock = Terminal(), Clock()
    with Progress(stream=terminal, clock=clock) as progress:
        clock.now += 1
        progress("meteor", 1, 2)
        terminal.close()
        terminal.isatty = lambda: True
        clock.now += 1
        progress("meteor", 2, 2)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 s"),
        (89, "89 s"),
        (91, "2 min"),
        (5000, "83 min"),
        (12_000, "3 h 20 min"),
    ],
)
def test_times_are_as_exact_as_anyone_cares(seconds, words):
    assert _in_words(seconds) == words
