import random

from hypothesis import given
from hypothesis import strategies as st

from monitor.sources.letter import Letter
from monitor.sources.outbox import Outbox

A, B = Letter(None, b"a" * 10, []), Letter(b"b", b"b" * 20, [("h", b"1")])


def test_size_is_that_of_everything():
    assert B.size == 1 + 20 + 2


def test_a_mark_is_settled_when_all_before_it_are_in_whatever_order():
    box = Outbox()
    assert box.settled(box.mark())
    box.add(A)
    box.add(B)
    early = box.mark()
    box.add(A)
    late = box.mark()
    first, second, third = box.take(), box.take(), box.take()
    box.settle(third)
    box.settle(first)
    assert not box.settled(early)
    box.again(second, A)  # shortened, say: it is still the same letter
    assert not box.settled(early)
    assert not box.settled(late)
    box.settle(box.take())
    assert box.settled(early)
    assert box.settled(late)
    assert len(box) == 0


def test_full_by_number_or_by_bytes_and_crowded_until_half_is_gone():
    for box, capacity in ((Outbox(4), 4), (Outbox(1000, bytes_capacity=40), 4)):
        for _ in range(capacity):
            assert not box.full
            assert not box.crowded
            box.add(A)
        assert box.full
        assert box.crowded
        box.settle(box.take())
        assert not box.full
        assert box.crowded
        box.settle(box.take())
        assert not box.crowded


@given(st.lists(st.sampled_from(["add", "take", "again", "settle", "mark"]), max_size=60), st.integers())
def test_account_is_that_of_a_list(steps, seed):
    """In whatever order things happen, a mark is settled when its letters are, and nothing is left over."""
    rng = random.Random(seed)
    box, taken, marks = Outbox(8, 100), [], []
    letters: dict[int, int] = {}  # number to the number of marks before it, of unsettled letters
    queue, number = [], 0
    for step in steps:
        if step == "add":
            box.add(A)
            letters[number] = len(marks)
            queue.append(number)
            number += 1
        elif step == "take" and queue:
            taken.append((queue.pop(0), box.take()))
        elif step == "mark":
            marks.append(box.mark())
        elif taken:
            which, posted = taken.pop(rng.randrange(len(taken)))
            if step == "again":
                box.again(posted, B)
                queue.append(which)
            else:
                box.settle(posted)
                del letters[which]
        for i, mark in enumerate(marks):
            assert box.settled(mark) == all(before > i for before in letters.values())
        assert len(box) == len(letters)
        assert box.waiting == len(queue)
    for _, posted in taken:
        box.settle(posted)
    while box.waiting:
        box.settle(box.take())
    assert (len(box), box.full, box.crowded, box._bytes) == (0, False, False, 0)
    assert not box._unsettled
