"""Runs every command of the user guide and compares the output."""

import contextlib
import pathlib

import pytest

import guide
from harness import BINARY, ROOT
from outbox import PostgresServer
from program import free_port

GUIDE = ROOT / "docs" / "guide"
PAGES = sorted(page for page in GUIDE.glob("*.md") if guide.steps_of(page))


@contextlib.contextmanager
def environment_of(page):
    """Starts what the readers of a page are assumed to have. Gives environment and replacements."""
    if page.stem.startswith("source-outbox"):
        with PostgresServer() as postgres:
            yield {"DATABASE_URL": postgres.address()}, {}
    elif page.stem == "postgresql":
        with PostgresServer() as postgres:
            yield ({"PGHOST": str(postgres.root), "PGPORT": str(postgres.port),
                    "PGUSER": "postgres"}, {":5432": f":{postgres.port}"})
    else:
        yield {}, {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_print_what_it_shows(page):
    server, second, receiver, redis, prometheus = (free_port() for _ in range(5))
    replacements = {":8080": f":{server}", ":8081": f":{second}", ":9000": f":{receiver}",
                    ":6379": f":{redis}", ":9090": f":{prometheus}",
                    "/usr/local/share/postrider": str(ROOT / "deploy"),
                    "scrape_interval: 15s": "scrape_interval: 1s"}
    with environment_of(page) as (environment, more_replacements):
        guide.run_page(page, GUIDE / "quick-start.md", pathlib.Path(BINARY).parent,
                       replacements | more_replacements, environment)


def test_the_main_pages_of_the_guide_contain_commands():
    assert {page.stem for page in PAGES} >= {"quick-start", "publishing", "receiving", "policies",
                                             "operations"}


@pytest.mark.parametrize("shown, printed, good", [
    ({"a": "…"}, {"a": 1, "b": 2}, True),
    ({"a": 1}, {"b": 1}, False),
    ({"a": "x…z"}, {"a": "xyz"}, True),
    ({"a": "x…z"}, {"a": "xy"}, False),
    ([1, "…"], [1, 2, 3], True),
    ([1], [1, 2], False),
])
def test_output_matches_if_it_contains_what_the_page_shows(shown, printed, good):
    assert bool(guide.fits(shown, printed)) == good


def test_text_output_may_have_more_lines_but_none_missing():
    assert guide.text_fits("one\nthr…", "one\ntwo\nthree\n")
    assert not guide.text_fits("two\none", "one\ntwo\n")
