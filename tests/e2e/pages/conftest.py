"""A whole instance with the sample corpus, a fake PubMed, and a real browser to look at it.

The browser is the machine's Chromium, or the one that ATTEST_TEST_BROWSER names; without one these
tests are skipped. ATTEST_TEST_SCREENSHOTS names the directory that keeps what was seen.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page, Request, expect, sync_playwright

from tests.e2e.instances import Up, start
from tests.fakes.eutils import Eutils
from tests.fakes.web import Clock, FakeWeb

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "records"
BROWSERS = (
    "chromium-headless-shell",  # a fifth of the CPU of a whole Chromium
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
CURABLE = "Does Xyzomab lower mortality in heart failure with atrial fibrillation?"
PHONE_IN_THE_DARK = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
"""A window's options. Colours do not follow from its width, nor places from its colours."""
FINDING = "In heart failure with atrial fibrillation, Xyzomab lowered made-up mortality by 12%."


def _executable() -> str | None:
    named = os.environ.get("ATTEST_TEST_BROWSER")
    return named or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A headless Chromium.

    It ends with the tests of this folder: while it is there this thread has a running event loop,
    in which no other test can start its own.
    """
    executable = _executable()
    if executable is None:
        pytest.skip("no browser: install Debian's chromium, or name one in ATTEST_TEST_BROWSER")
    expect.set_options(timeout=30_000)  # a busy machine is slow, and being slow is no failure
    with sync_playwright() as playwright:
        # As root Chromium starts only without its sandbox; it shows our own pages here. Its
        # process for a graphics card draws what nobody sees, for an eighth of its CPU time.
        running = playwright.chromium.launch(
            executable_path=executable,
            args=["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"],
        )
        yield running
        running.close()


@contextmanager
def following(folder: Path) -> Iterator[Up]:
    """An instance with a PubMed to follow, in which there are three works that it does not hold."""
    pubmed = Eutils(Clock(datetime.now(UTC)))
    pubmed.put(9, title="A made-up work on gout, which is what is followed.")
    for pmid, kind in enumerate(
        ("Systematic Review", "Randomized Controlled Trial", "Practice Guideline"), start=1
    ):
        pubmed.put(
            pmid,
            title="Xyzomab in heart failure with atrial fibrillation, a made-up work.",
            abstract=[("RESULTS", "RESULTS", FINDING)],
            types=[kind],
        )
    with FakeWeb(pubmed) as web, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTEST_SOURCE_MIRRORS", json.dumps(dict(web.mirrors)))
        running = start(folder / "data")
        try:
            yield running
        finally:
            running.stop()


@pytest.fixture(scope="package")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Such an instance, which holds the samples."""
    with following(tmp_path_factory.mktemp("pages")) as running:
        files = [str(one) for one in sorted(SAMPLES.glob("*.jsonl"))]
        done = running.attest("ingest", *files, "--json")
        assert done.returncode == 0, done.stderr
        yield running


@pytest.fixture(scope="package")
def keyed(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """An instance that asks for keys, and holds no evidence."""
    folder = tmp_path_factory.mktemp("keyed")
    with pytest.MonkeyPatch.context() as patch:  # of this instance, and of none that starts later
        patch.setenv("ATTEST_REQUIRE_KEYS", "true")
        running = start(folder / "data")
    try:
        yield running
    finally:
        running.stop()


def make_key(site: Up, *scopes: str) -> str:
    """A new key of `keyed` with these scopes; all are of one owner."""
    given = ("--name=a test", "--owner=ward-1", f"--scopes={','.join(scopes)}")
    made = site.attest("keys", "create", *given, "--json")
    assert made.returncode == 0, made.stderr
    return str(json.loads(made.stdout)["key"])


@dataclass
class Seen:
    """A page in the browser, and all that must not happen in it."""

    page: Page
    url: str
    shots: Path | None
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def open(self, path: str) -> None:
        self.page.goto(self.url + path)

    def sign_in(self, key: str, *, window: Page | None = None) -> None:
        """Sign in, and wait for the page that follows and its scripts; `window` is another one."""
        page = window or self.page
        page.get_by_label("Key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(lambda address: urlsplit(address).path != "/signin")

    def shot(self, name: str, *, whole: bool = True) -> None:
        """Look at what is seen with axe, and keep a picture if somebody asked for pictures."""
        if self.shots is not None:
            self.page.screenshot(path=self.shots / f"{name}.png", full_page=whole)
        found = self.undisturbed(lambda: Axe().run(self.page))
        assert found.violations_count == 0, found.generate_report()

    def says(self, script: str, argument: object = None) -> Any:
        """What `script` returns in this page, or in the one that took its place meanwhile."""
        return self.undisturbed(lambda: self.page.evaluate(script, argument))

    def undisturbed(self, look: Callable[[], Any]) -> Any:
        """What `look` returns of a page that stays: one that shows itself anew is waited for."""
        while True:
            try:
                return look()
            except Error as error:
                if "context was destroyed" not in error.message:
                    raise
                self.page.wait_for_load_state()

    def refuse(self) -> None:
        """Nothing went wrong: no error on the console, no other host, no violated policy."""
        violations = self.says("() => window.__violations ?? []")
        assert violations == []
        assert self.foreign == []
        left = [one for one in self.errors if not one.startswith(self.expected or ("\0",))]
        assert left == []


@pytest.fixture(scope="session")
def shots() -> Path | None:
    """Where pictures are kept, if anywhere: no test looks at one, and Chromium may hang in it."""
    named = os.environ.get("ATTEST_TEST_SCREENSHOTS")
    if named is None:
        return None
    folder = Path(named)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def look(
    browser: Browser, shots: Path | None, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Seen]]:
    """Opens a browser window of its own; at the end of the test nothing may have gone wrong."""
    opened: list[Seen] = []

    def make(url: str = "", **options: Any) -> Seen:
        url = url or request.getfixturevalue("site").url
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "color_scheme": "light", **options}
        )
        context.set_default_timeout(30_000)
        context.add_init_script(
            "window.__violations = [];"
            "document.addEventListener('securitypolicyviolation',"
            " (event) => window.__violations.push(event.violatedDirective));"
        )
        page = context.new_page()
        seen = Seen(page, url, shots)
        host = urlsplit(url).netloc

        def requested(request: Request) -> None:
            parts = urlsplit(request.url)
            if parts.scheme != "data" and parts.netloc != host:
                seen.foreign.append(request.url)

        page.on("request", requested)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on(
            "console",
            lambda message: seen.errors.append(message.text) if message.type == "error" else None,
        )
        opened.append(seen)
        return seen

    yield make
    for one in opened:
        one.refuse()
        one.page.context.close()


@pytest.fixture
def api(site: Up) -> Iterator[httpx.Client]:
    """The JSON interface of the same instance."""
    with httpx.Client(base_url=site.url, timeout=60) as client:
        yield client
