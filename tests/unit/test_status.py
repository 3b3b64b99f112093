from monitor.status import DURATION_BOUNDS, Durations
from tests.support.reports import status


def test_a_duration_falls_into_the_bucket_whose_bound_it_reaches():
    counts = Durations().observe(0.01).observe(0.011).observe(1e6).counts
    assert counts[:2] == (1, 1)
    assert counts[-1] == 1
    assert len(counts) == len(DURATION_BOUNDS) + 1


def test_the_sum_is_kept():
    assert Durations().observe(0.25).observe(0.5).total == 0.75


def test_roles():
    assert status().role == "owner"
    assert status(owner=False).role == "standby"
    assert status(ready=False).role == "restoring"
