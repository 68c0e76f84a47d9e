"""Mails to owners whose answer holds no longer: links, and no words of questions."""

import smtplib
import ssl
from email.message import EmailMessage
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


def mail_changes(store: Store, settings: Settings) -> None:
    """Mail each owner of `mail_to` what is to be told; what cannot be sent is tried again.

    A mail is sent once, save where the scheduler dies after the server has taken it and before that
    is noted: then it is sent again and says so, under the same Message-ID, by which programs drop
    the second. To miss a fallen answer would be worse than to read of it twice.
    """
    if not settings.smtp_url:
        return
    once = store.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    with once as connection:  # the lock is that of the connection, so it ends with the process
        if not connection.scalar(sa.select(sa.func.pg_try_advisory_lock(_LOCK))):
            return
        try:
            for owner, address in settings.mail_to.items():
                _mail(store, settings, owner, address)
        finally:
            connection.execute(sa.select(sa.func.pg_advisory_unlock(_LOCK)))


def _mail(store: Store, settings: Settings, owner: str, address: str) -> None:
    with store.unit_of_work(ACTOR) as work:
        alert = alerts.promise(work, owner)
    if alert is None:
        return
    try:
        _send(settings.smtp_url, message(settings, alert, address))
    except (OSError, smtplib.SMTPException) as error:  # the text may name the address
        log.warning("alert_not_mailed", error=type(error).__name__)
        return
    with store.unit_of_work(ACTOR) as work:
        alerts.told(work, alert)
    log.info("alert_mailed", answers=len(alert.answers))


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
        OSError, smtplib.SMTPException: it was not taken.
    """
    parts = urlsplit(url)
    host, port, safe = parts.hostname or "", parts.port or 0, ssl.create_default_context()
    server: smtplib.SMTP
    if parts.scheme == "smtps":
        server = smtplib.SMTP_SSL(host, port, timeout=SMTP_SECONDS, context=safe)
    else:
        server = smtplib.SMTP(host, port, timeout=SMTP_SECONDS)
    with server:
        if parts.scheme == "smtp":
            server.starttls(context=safe)
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
        server.send_message(mail)
