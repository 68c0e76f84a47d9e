"""`attest keys`: who may call the gateway, for how long, and how much.

The commands work on the database of the instance, not through its gateway: database access needs no
key, and nobody could otherwise create the first key.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.table import Column, Table

from cli.instance.context import Instance, JsonOption, print_json
from cli.output.printing import say, say_beside
from cli.output.tables import table_console
from knowledge.operation.access import access_policy
from store.access import keys
from store.models import AccessKey, now

keys_app = typer.Typer(help="Keys of the HTTP interface.", no_args_is_help=True)

ACTOR = "cli"
_DAYS = re.compile(r"([1-9][0-9]{0,4})d", re.ASCII)


def expiry(written: str | None, at: datetime) -> datetime:
    """Return when a key ends: after days such as `90d`, or at a date or time (UTC if it names no
    zone); after the policy's number of days if nothing is given.

    Raises:
        ValueError: it is neither, lies in the past, or exceeds the longest lifetime of keys.
    """
    policy = access_policy().keys
    days = _DAYS.fullmatch(written) if written is not None else None
    if written is None:
        end = at + timedelta(days=policy.expire_days)
    elif days is not None:
        end = at + timedelta(days=int(days[1]))
    else:
        end = _moment(written)
    if not at < end <= at + timedelta(days=policy.longest_days):
        raise ValueError(
            f"--expires: a key ends in the future, in {policy.longest_days} days at the latest"
        )
    return end


def _moment(written: str) -> datetime:
    try:
        if "T" in written or " " in written:
            moment = datetime.fromisoformat(written)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return datetime.combine(date.fromisoformat(written), time.min, UTC)
    except ValueError:
        raise ValueError("--expires: write 90d, or a date such as 2027-01-31") from None


def dollars(written: str | None) -> Decimal | None:
    """Return an amount of US dollars exactly as written.

    Raises:
        ValueError: it is no number.
    """
    if written is None:
        return None
    try:
        amount = Decimal(written)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise ValueError("--usd-a-day: write a number, such as 2.50")
    return amount


def shown(key: AccessKey, at: datetime) -> dict[str, Any]:
    """Return a key for listings, without salt and hash."""
    body = key.model_dump(mode="json", exclude={"salt", "hash", "counted", "counted_on"})
    return {**body, "state": keys.state(key, at), "prefix": f"attest_{key.prefix}"}


@keys_app.command("create")
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Option(help="for you: which program or desk it is for")],
    scopes: Annotated[str, typer.Option(help=f"some of {','.join(keys.SCOPES)}")],
    owner: Annotated[
        str, typer.Option(help="whose questions, notes and texts it reads and writes")
    ] = "local",
    expires: Annotated[str | None, typer.Option(help="90d, or a date; 90d if left out")] = None,
    rate_per_minute: Annotated[int | None, typer.Option(min=1)] = None,
    requests_a_day: Annotated[int | None, typer.Option(min=1)] = None,
    usd_a_day: Annotated[
        str | None, typer.Option(help="US dollars that language models may cost its owner a day")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key and print it, this once: what is stored is a hash of it."""
    at = now()
    end = expiry(expires, at)
    limits = keys.Limits(rate_per_minute, requests_a_day, dollars(usd_a_day))
    wanted = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    with Instance.of(ctx).store.unit_of_work(ACTOR) as work:
        issued = keys.create(
            work, name=name, owner=owner, scopes=wanted, expires_at=end, limits=limits
        )
    if as_json:
        print_json({**shown(issued.key, at), "key": issued.secret})
        return
    say_beside(
        f"Key {issued.key.id} for {owner} until {end:%Y-%m-%d %H:%M} UTC: "
        f"{', '.join(issued.key.scopes)}. It is shown this once; callers send it as "
        "Authorization: Bearer KEY, and the attest command takes it from ATTEST_KEY.",
    )
    say(issued.secret)


@keys_app.command("list")
def list_keys(
    ctx: typer.Context,
    owner: Annotated[str | None, typer.Option(help="only this owner's")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the keys, newest first; those that ended too."""
    at = now()
    with Instance.of(ctx).store.reading() as session:
        listed = [shown(key, at) for key in keys.listing(session, owner=owner)]
    if as_json:
        print_json(listed)
        return
    rest = ("name", "owner", "scopes", "state", "expires", "last used", "prefix")
    table = Table(Column("id", no_wrap=True), *rest)
    for item in listed:
        used, scopes = (item["last_used_at"] or "never")[:16], ",".join(item["scopes"])
        row = (
            item["id"],
            item["name"],
            item["owner"],
            scopes,
            item["state"],
            item["expires_at"][:16],
        )
        table.add_row(*row, used, item["prefix"])
    table_console().print(table)


@keys_app.command("revoke")
def revoke(ctx: typer.Context, key_id: UUID, as_json: JsonOption = False) -> None:
    """End a key at once. Revoking it again changes nothing."""
    with Instance.of(ctx).store.unit_of_work(ACTOR) as work:
        key = keys.revoke(work, key_id)
    body = shown(key, now())
    if as_json:
        print_json(body)
    else:
        say(f"{key.id} {body['state']}")
