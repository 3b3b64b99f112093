from hypothesis import given
from hypothesis import strategies as st

from monitor.web.paging import PER_PAGE, paged
from tests.support.pages import Document


@given(st.integers(1, 4 * PER_PAGE))
def test_every_entry_is_on_one_page_and_links_lead_to_the_neighbours(n):
    pages = -(-n // PER_PAGE)
    seen = []
    for page in range(1, pages + 1):
        here, links = paged(range(n), {"page": f"{page}"}, "./?page={}".format, "things")
        seen += here
        around = [f"./?page={to}" for to in (page - 1, page + 1) if 1 <= to <= pages]
        assert around == ([] if links is None else Document(links).links())
    assert seen == list(range(n))


def test_no_entry_at_all():
    assert paged([], {"page": "2"}, str, "things") == ([], None)
