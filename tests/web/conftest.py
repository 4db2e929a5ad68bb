"""Chromium, and a server whose page it opens."""

import pytest
from web_browser import chromium, opener


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def address():
    from web_samples import make_backend, running  # skips tests where uvicorn is missing

    with running(make_backend()) as client:
        yield str(client.base_url)


@pytest.fixture
def go(browser, address):
    """Return a function that opens the page at a hash."""
    with opener(browser, address) as go:
        yield go
