"""Mails to owners whose answer holds no longer: links, and no words of questions."""

import smtplib
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from email.message import EmailMessage
from functools import partial
from urllib.parse import unquote, urlsplit

import sqlalchemy as sa
import structlog

from store.core.plurals import counted
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.recalls import alerts
from store.recalls.alerts import Alert

log = structlog.get_logger(__name__)

ACTOR = "scheduler"
SMTP_SECONDS = 20.0
_LOCK = 0x417474657374000A  # "Attest", 10: one scheduler at a time mails


class NotTaken(Exception):
    """The server has not taken the mail, and will not."""


def mail_changes(store: Store, settings: Settings) -> None:
    """Mail each owner of `mail_to` what is to be told; what a server does not take is tried again.

    No mail is sent twice by itself. Where the scheduler or the connection dies after the mail was
    handed over and before the server's word is noted, nobody knows whether it arrived: it waits for
    an operator (`mail_again`), and what changes later is told meanwhile.
    """
    if settings.smtp_url:
        with _alone(store) as mine:
            for owner, address in settings.mail_to.items() if mine else ():
                with store.unit_of_work(ACTOR) as work:
                    alert = alerts.promise(work, owner)
                if alert is not None:
                    _mail(store, settings, alert, address)


def mail_again(store: Store, settings: Settings) -> int:
    """On an operator's word: send the mails of which nobody knows whether they arrived. They say
    so, under their first Message-ID. Returns how many the server took now."""
    taken = 0
    with _alone(store) as mine:
        for owner, address in settings.mail_to.items() if mine else ():
            with store.reading() as session:
                doubts = alerts.in_doubt(session, owner)
            taken += sum(_mail(store, settings, alert, address) for alert in doubts)
    return taken


@contextmanager
def _alone(store: Store) -> Iterator[bool]:
    """Whether nobody else mails; true until the block, the connection or the process ends."""
    once = store.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    with once as connection:
        mine = bool(connection.scalar(sa.select(sa.func.pg_try_advisory_lock(_LOCK))))
        yield mine
        if mine:
            connection.execute(sa.select(sa.func.pg_advisory_unlock(_LOCK)))


def _mail(store: Store, settings: Settings, alert: Alert, address: str) -> bool:
    """Send it and note how that ended; whether the server took it."""
    end = alerts.told
    try:
        _send(settings.smtp_url, message(settings, alert, address))
    except NotTaken as error:  # its cause may name the address
        end = alerts.unsent
        log.warning("alert_not_mailed", error=type(error.__cause__).__name__)
    except (OSError, smtplib.SMTPException):
        end = alerts.doubted
    if end is not alerts.told and alert.again:
        return False  # it is in doubt already
    with store.unit_of_work(ACTOR) as work:
        end(work, alert)
    if end is alerts.told:
        log.info("alert_mailed", answers=len(alert.answers))
    return end is alerts.told


def message(settings: Settings, alert: Alert, address: str) -> EmailMessage:
    """The mail of an alert: the same whenever it is made, but for the word that it comes again."""
    here = settings.public_url.rstrip("/") or f"http://{settings.host}:{settings.port}"
    many = len(alert.answers)
    mail = EmailMessage()
    mail["Subject"] = f"Attest: {counted(many, 'answer')} of yours changed"
    mail["From"], mail["To"] = settings.mail_from, address
    mail["Message-ID"] = f"<{alert.number}@attest.invalid>"
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no program answers it
    lines = ["What these answers rest on has changed, and they hold no longer.", ""]
    for old, new in alert.answers:
        lines += [f"{here}/questions/{old}"]
        lines += [f"  asked anew: {here}/questions/{new}"] if new else []
    if alert.again:
        lines += ["", "A mail with these links may have reached you before."]
    mail.set_content("\n".join(lines) + "\n")
    return mail


def _send(url: str, mail: EmailMessage) -> None:
    """Hand a mail to the server at `url`: `smtps` (TLS at once), `smtp` (TLS before anything else),
    or `smtp+plain` (none, for a server on this machine).

    Raises:
        NotTaken: the server was not reached, or refused it.
        OSError, smtplib.SMTPException: it may have been taken.
    """
    parts = urlsplit(url)
    host, port, safe = parts.hostname or "", parts.port or 0, ssl.create_default_context()
    connect: Callable[..., smtplib.SMTP] = smtplib.SMTP
    if parts.scheme == "smtps":
        connect = partial(smtplib.SMTP_SSL, context=safe)
    handed_over = False
    try:
        with closing(connect(host, port, timeout=SMTP_SECONDS)) as server:
            if parts.scheme == "smtp":
                server.starttls(context=safe)
            if parts.username:
                server.login(unquote(parts.username), unquote(parts.password or ""))
            handed_over = True
            server.send_message(mail)
            with suppress(OSError, smtplib.SMTPException):
                server.quit()
    except (OSError, smtplib.SMTPException) as error:
        refused = isinstance(error, smtplib.SMTPResponseException | smtplib.SMTPRecipientsRefused)
        if handed_over and not refused:
            raise
        raise NotTaken from error
