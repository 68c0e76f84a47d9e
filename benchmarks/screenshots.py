"""The pictures of the README: a private instance, the sample corpus, a real browser.

    python -m benchmarks.screenshots

Writes `docs/images/*.png`. Needs the packages of `make setup-dev` and a Chromium: the machine's, or
the one that ATTEST_TEST_BROWSER names.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from cli.commands.demo import QUESTIONS, SAMPLES, free_port, running
from cli.commands.evidence.ingest import follow, submit
from cli.commands.questions.ask import ask
from cli.instance.instance import open_store
from cli.output.printing import Console
from store.core.settings import Settings

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
SLIDE = SAMPLES.parent / "texts" / "slide.md"
BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
SIZE: ViewportSize = {"width": 1280, "height": 900}
COLORS = 128


def main() -> int:
    """Make the pictures; the exit code."""
    console = Console(stderr=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    try:
        with instance(console) as (url, browser):
            for name, path in _pages(url).items():
                _shoot(browser, url + path, IMAGES / f"{name}.png")
                console.print(f"docs/images/{name}.png")
    except LookupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


@contextmanager
def instance(console: Console) -> Iterator[tuple[str, Browser]]:
    """An instance with the sample corpus, by its URL, and a browser to look at it with.

    Raises:
        LookupError: there is no browser; the text says what to do.
    """
    executable = os.environ.get("ATTEST_TEST_BROWSER") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    if executable is None:
        raise LookupError("no browser: install chromium, or name one in ATTEST_TEST_BROWSER")
    with tempfile.TemporaryDirectory(prefix="attest-screenshots-") as directory:
        settings = Settings().model_copy(
            update={
                "data_dir": Path(directory) / "data",
                "port": free_port(),
                "database_url": "",
                "redis_url": "",
            }
        )
        with running(settings, console) as url, sync_playwright() as playwright:
            store = open_store(settings)
            follow(store, *submit(store, sorted(SAMPLES.glob("*.jsonl")), None))
            store.engine.dispose()
            # As root Chromium starts only without its sandbox; it shows our own pages here.
            # Its process for a graphics card draws what nobody sees.
            browser = playwright.chromium.launch(
                executable_path=executable,
                args=["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"],
            )
            yield url, browser
            browser.close()


def _pages(url: str) -> dict[str, str]:
    """What is shown: an answer, a citation of it in place, and a checked text."""
    ask(url, {"question": QUESTIONS[0]})  # the first one waits for what its stages load
    question = ask(url, {"question": QUESTIONS[0]})
    place = question["answer"]["claims"][0]["citations"][0]
    span = f"start={place['start']}&end={place['end']}#span"
    text = SLIDE.read_text("utf-8")
    sent = httpx.post(f"{url}/v1/verifications", json={"text": text}).json()
    httpx.get(f"{url}/v1/verifications/{sent['id']}", params={"wait": 30}, timeout=60)
    return {
        "answer": f"/questions/{question['id']}",
        "evidence": f"/evidence/{place['document_id']}/versions/{place['version']}?{span}",
        "verdicts": f"/verify/{sent['id']}",
    }


def _shoot(browser: Browser, address: str, path: Path) -> None:
    page = browser.new_page(viewport=SIZE, color_scheme="light")
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=path)
    page.close()
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(COLORS)
    small.save(path, optimize=True)


if __name__ == "__main__":
    raise SystemExit(main())
