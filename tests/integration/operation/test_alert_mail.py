"""Mails on answers that hold no longer: each change once, whatever fails on the way."""

import socketserver
import threading
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes
from email.message import Message
from uuid import UUID, uuid4

import pytest

from scheduler.mailing import mail_again, mail_changes
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.questions import questions
from store.recalls import alerts


class Mailbox(socketserver.ThreadingTCPServer):
    """A server for mails on loopback (RFC 5321), which can refuse, or cut off what it has taken."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.mails: list[Message] = []
        self.refuses = False
        self.cuts_off = False

    @property
    def url(self) -> str:
        return f"smtp+plain://127.0.0.1:{self.server_address[1]}"


class Conversation(socketserver.StreamRequestHandler):
    server: Mailbox

    def handle(self) -> None:
        self.say("220 here")
        for line in self.rfile:
            match line.split()[0].upper():
                case b"DATA":
                    self.say("354 go on")
                    if not self.take():
                        return
                case b"QUIT":
                    self.say("221 bye")
                    return
                case b"RCPT" if self.server.refuses:
                    self.say("451 later")
                case _:
                    self.say("250 ok")

    def take(self) -> bool:
        lines = iter(self.rfile.readline, b".\r\n")
        self.server.mails.append(message_from_bytes(b"".join(lines)))
        if self.server.cuts_off:
            return False
        self.say("250 taken")
        return True

    def say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with Mailbox() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def mailing(mailbox: Mailbox) -> Settings:
    return Settings(
        smtp_url=mailbox.url,
        mail_from="attest@example.org",
        mail_to={"ward-1": "ward@example.org"},
        public_url="https://attest.example.org/",
    )


def falls(store: Store, owner: str = "ward-1") -> UUID:
    """A question whose answer was superseded."""
    with store.unit_of_work("test", request_id=uuid4()) as work:
        asked = questions.submit(work, "Mrs Smith asks?", {}, owner=owner)
        work.record("answer.superseded", asked.id, superseded_by=str(uuid4()))
    return asked.id


def linked(mail: Message) -> list[str]:
    """The questions that a mail says hold no longer, by its links."""
    text = mail.get_payload(decode=True)
    assert isinstance(text, bytes)
    return [line.rpartition("/")[2] for line in text.decode().splitlines() if line[:4] == "http"]


def test_each_change_is_told_once_to_its_owner_without_a_word_of_the_question(
    store: Store, mailing: Settings, mailbox: Mailbox
) -> None:
    falls(store)
    mail_changes(store, mailing)
    assert mailbox.mails == [], "what changed before somebody asked for mails is no news"
    first, second = falls(store), falls(store)
    falls(store, owner="ward-2")
    mail_changes(store, mailing)
    (mail,) = mailbox.mails
    assert mail["To"] == "ward@example.org"
    assert mail["Subject"] == "Attest: 2 answers of yours changed"
    assert linked(mail) == [str(first), str(second)]
    assert "https://attest.example.org/questions/" in str(mail.get_payload())
    assert "Smith" not in mail.as_string()
    mail_changes(store, mailing)
    assert len(mailbox.mails) == 1
    third = falls(store)
    mail_changes(store, mailing)
    assert [linked(one) for one in mailbox.mails[1:]] == [[str(third)]]


def test_what_a_server_refuses_is_sent_later_and_not_lost(
    store: Store, mailing: Settings, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail_changes(store, mailing)
    fallen = falls(store)
    mailbox.refuses = True
    mail_changes(store, mailing)
    mailbox.refuses = False
    mail_changes(store, mailing)
    assert mailbox.mails == [], "a server that refused is left alone for a while"
    monkeypatch.setattr(alerts, "RETRY_AFTER", timedelta(0))
    away = mailing.model_copy(update={"smtp_url": "smtp+plain://127.0.0.1:1"})
    mail_changes(store, away)
    assert mailbox.mails == []
    mail_changes(store, mailing)
    assert [linked(one) for one in mailbox.mails] == [[str(fallen)]]


def test_a_mail_whose_end_nobody_knows_is_sent_again_only_on_an_operator_s_word(
    store: Store, mailing: Settings, mailbox: Mailbox
) -> None:
    mail_changes(store, mailing)
    fallen = falls(store)
    mailbox.cuts_off = True
    mail_changes(store, mailing)
    mailbox.cuts_off = False
    mail_changes(store, mailing)
    later = falls(store)
    mail_changes(store, mailing)
    assert [linked(one) for one in mailbox.mails] == [[str(fallen)], [str(later)]]
    assert mail_again(store, mailing) == 1
    first, _, again = mailbox.mails
    assert first["Message-ID"] == again["Message-ID"], "by which the second is dropped"
    assert linked(again) == [str(fallen)]
    doubt = "may have reached you before"
    assert [doubt in str(one.get_payload()) for one in (first, again)] == [False, True]
    assert mail_again(store, mailing) == 0
    mail_changes(store, mailing)
    assert len(mailbox.mails) == 3


def test_what_a_scheduler_that_died_was_sending_is_in_doubt_and_the_rest_is_told(
    store: Store, mailing: Settings, mailbox: Mailbox
) -> None:
    mail_changes(store, mailing)
    fallen = falls(store)
    with store.unit_of_work("test") as work:
        assert alerts.promise(work, "ward-1") is not None, "and here it dies"
    later = falls(store)
    mail_changes(store, mailing)
    mail_changes(store, mailing)
    assert [linked(one) for one in mailbox.mails] == [[str(later)]]
    mailbox.refuses = True
    assert mail_again(store, mailing) == 0
    mailbox.refuses = False
    assert mail_again(store, mailing) == 1
    assert linked(mailbox.mails[-1]) == [str(fallen)]


def test_two_schedulers_send_one_mail(store: Store, mailing: Settings, mailbox: Mailbox) -> None:
    mail_changes(store, mailing)
    falls(store)
    many = [threading.Thread(target=mail_changes, args=(store, mailing)) for _ in range(4)]
    for one in many:
        one.start()
    for one in many:
        one.join()
    mail_changes(store, mailing)
    assert len(mailbox.mails) == 1


def test_more_than_fits_into_a_mail_comes_in_the_next(
    store: Store, mailing: Settings, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerts, "MOST", 2)
    mail_changes(store, mailing)
    fallen = [str(falls(store)) for _ in range(5)]
    for _ in range(4):
        mail_changes(store, mailing)
    assert [linked(one) for one in mailbox.mails] == [fallen[:2], fallen[2:4], fallen[4:]]


def test_without_a_server_nothing_is_promised(store: Store, mailing: Settings) -> None:
    falls(store)
    mail_changes(store, mailing.model_copy(update={"smtp_url": ""}))
    with store.unit_of_work("test") as work:
        assert alerts.promise(work, "ward-1") is None
