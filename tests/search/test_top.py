"""The few largest of many numbers against PyTorch's topk, which `largest` must equal exactly.

Knows rows of numbers; nothing of words.
"""

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from meshcap.search.top import largest

CHUNK = 101
# Around borders of chunks, the smallest row that is looked at in chunks (16 of them), the
# vocabularies of the paper and of its GloVe variant, and a larger one.
SIZES = sorted(
    {CHUNK * chunks + more for chunks in (1, 2, 15, 16, 17, 40, 101) for more in (-1, 0, 1, 100)}
    | {70, 71, 10197, 10198, 10201, 20000}
)


def check(numbers: Tensor, count: int) -> None:
    """Equal values in order, and places that hold them, each once."""
    before = numbers.clone()
    values, places = largest(numbers, count)
    assert torch.equal(values, numbers.topk(count, dim=-1).values)
    assert values.dtype == numbers.dtype
    assert places.dtype == torch.int64
    assert places.shape == values.shape
    assert torch.equal(numbers.gather(-1, places), values)
    assert (places.sort(dim=-1).values.diff(dim=-1) > 0).all(), "no place is taken twice"
    assert torch.equal(numbers, before), "the numbers are left as they were"


def rows(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("size", SIZES)
def test_the_largest_are_those_of_topk(size: int) -> None:
    numbers = rows(3, size, seed=size)
    for count in (1, 2, 3, 5, 8, 15, 16, 17, 40, 70):
        check(numbers, min(count, size))


@pytest.mark.parametrize("size", [1615, 1616, 1717, 10201])
def test_every_count_from_1_to_70_is_right(size: int) -> None:
    numbers = rows(2, size, seed=1)
    for count in range(1, 71):
        check(numbers, count)


@pytest.mark.parametrize("size", [1616, 1700, 10198, 10201])
@pytest.mark.parametrize("kinds", [1, 2, 5])
def test_ties_take_equal_numbers_and_no_place_twice(size: int, kinds: int) -> None:
    numbers = (rows(4, size, seed=kinds) * 10).round() % kinds
    for count in (1, 5, 12, 70):
        check(numbers, count)


@pytest.mark.parametrize("size", [1616, 1700, 10198, 10201])
@pytest.mark.parametrize("finite", [0, 1, 3, 30])
def test_rows_that_are_mostly_minus_infinity_are_right(size: int, finite: int) -> None:
    numbers = torch.full((3, size), float("-inf"))
    places = torch.randint(size, (3, finite), generator=torch.Generator().manual_seed(size))
    numbers.scatter_(1, places, rows(3, finite, seed=finite))
    for count in (1, 5, 12, 70):
        check(numbers, count)


@pytest.mark.parametrize("size", [1616, 1617, 10198, 10201])
def test_the_largest_are_found_wherever_they_stand(size: int) -> None:
    for place in (0, CHUNK - 1, CHUNK, size // 2, size - 2, size - 1):
        numbers = rows(1, size)
        numbers[0, place] = 100.0
        check(numbers, 5)
        values, places = largest(numbers, 5)
        assert places[0, 0] == place
        assert values[0, 0] == 100.0
    # All in one chunk; one in each of so many chunks; all in the rest that fills no chunk.
    for together in (range(CHUNK, CHUNK + 7), range(3, 7 * CHUNK, CHUNK), range(size - 7, size)):
        numbers = rows(1, size)
        for rank, place in enumerate(together):
            numbers[0, place] = 100.0 + rank
        assert largest(numbers, 7)[1][0].tolist() == list(together)[::-1]


@pytest.mark.parametrize("leading", [(), (1,), (7,), (2, 5), (2, 1, 3), (0,)])
@pytest.mark.parametrize("size", [300, 2000, 2020])
def test_leading_dimensions_are_kept(leading: tuple[int, ...], size: int) -> None:
    check(rows(*leading, size), 6)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_kinds_of_numbers_are_right(dtype: torch.dtype) -> None:
    check(rows(3, 2030).to(dtype), 9)


def test_numbers_that_do_not_lie_side_by_side_are_right() -> None:
    check(rows(2030, 4).T, 6)
    check(rows(4, 4060)[:, ::2], 6)
    check(rows(1, 2030).expand(3, -1), 6)


@given(
    size=st.integers(1, 3500),
    wanted=st.integers(1, 70),
    leading=st.lists(st.integers(1, 3), max_size=2),
    kinds=st.sampled_from([2, 7, 1000, 10**6]),
    never=st.sampled_from([0.0, 0.5, 0.99]),
    seed=st.integers(0, 10**6),
)
@example(size=1616, wanted=15, leading=[], kinds=2, never=0.99, seed=0)
@example(size=1616, wanted=16, leading=[2], kinds=10**6, never=0.0, seed=0)
@settings(max_examples=150)
def test_largest_is_topk_on_any_row(
    size: int, wanted: int, leading: list[int], kinds: int, never: float, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randint(kinds, (*leading, size), generator=generator).float()
    numbers[torch.rand(numbers.shape, generator=generator) < never] = float("-inf")
    check(numbers, min(wanted, size))
