"""Prints the progress of `attest up`, even if the terminal has gone since."""

from rich.text import Text

from api_gateway.documents.adding_view import SAMPLES
from api_gateway.http.host_names import url_of
from api_gateway.pages.wording import EXAMPLES
from cli.output.printing import Console
from cli.output.typed import typed
from store.core.settings import Settings


class _Heard(Console):
    """Prints on standard error until it is closed."""

    def on_broken_pipe(self) -> None:
        """Fall silent. Rich would end this process, and with it all that it runs."""
        self.quiet = True


class Teller:
    """Prints what each process does; a closed terminal or pipe stops none of them."""

    def __init__(self, settings: Settings) -> None:
        self._url = url_of(settings.host, settings.port)
        self._next = [typed(settings, "ask", EXAMPLES[0])]
        if SAMPLES.is_dir():
            self._next.insert(0, typed(settings, "ingest", str(SAMPLES)))
        self._console = _Heard(stderr=True)

    def __call__(self, name: str, what: str) -> None:
        """Print what a process does now."""
        self._print(Text.assemble((f"{name:>10}", "bold"), f" {what}"))
        if (name, what) == ("gateway", "ready"):
            self.say(f"Attest answers at {self._url} (Ctrl-C stops)")
            self.say("Next: open that page, or type in another terminal, to try it:")
            for line in self._next:
                self.say(f"  {line}")

    def say(self, line: str) -> None:
        """Print a line unchanged."""
        self._print(Text(line))

    def _print(self, text: Text) -> None:
        try:
            self._console.print(text, soft_wrap=True)
        except OSError:  # EIO of a terminal that is gone
            self._console.quiet = True
