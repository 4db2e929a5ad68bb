"""Chromium for the tests of the page, and what every opened page must hold."""

import contextlib
import shutil
from collections.abc import Iterator

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
#: No machine but this one exists.
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

#: How long a test waits for the page: the first move of a player compiles its kernels.
PATIENCE_S = 30


@contextlib.contextmanager
def chromium() -> Iterator:
    """Start Chromium; skip the tests where it is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    playwright.expect.set_options(timeout=PATIENCE_S * 1000)
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=[*OPTIONS, ALONE])
        yield browser
        browser.close()


@contextlib.contextmanager
def opened(browser, address: str, expects_errors: bool = False, **settings) -> Iterator:
    """Open a page of its own; at the end, nothing has failed and nobody else was asked.

    Args:
        expects_errors: whether requests are made to fail.
        settings: of the browser's context, such as a viewport.
    """
    context = browser.new_context(reduced_motion="reduce", **settings)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_S * 1000)
    errors, asked = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda text: errors.append(text.text) if text.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.wait_for_selector(".page-head")
    yield page
    context.close()
    site = "/".join(address.split("/")[:3])
    assert all(url.startswith((site, "data:", "blob:")) for url in asked)
    assert expects_errors or errors == []


@contextlib.contextmanager
def opener(browser, address: str) -> Iterator:
    """Yield a function that opens the page at a hash; see `opened` for its other arguments."""
    with contextlib.ExitStack() as pages:

        def open_page(hash_="", **settings):
            return pages.enter_context(opened(browser, f"{address}{hash_}", **settings))

        yield open_page


def findings(page) -> list[str]:
    """Return what axe-core finds on a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found]
