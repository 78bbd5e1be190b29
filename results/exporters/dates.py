"""The date of a document for other tools."""

from __future__ import annotations

import datetime


def moment(text: str) -> datetime.datetime | None:
    """The time of an ISO 8601 date, in UTC unless it has another zone; None for other texts."""
    try:
        # Python 3.10 does not read the suffix Z.
        found = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.timezone.utc)
