"""A typed view of a JSON object: each key is declared once, and converted when it is read.

A document has up to a hundred thousand entries, of which a view reads a few keys each. So a record
holds the parsed object and costs one slot. It cannot be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast, overload

T_co = TypeVar("T_co", covariant=True)
R = TypeVar("R", bound="Record")


class Record:
    """Holds a JSON object that the schema admits; false where the document has no such object.

    The annotations of its keys are checked by mypy, their values by `_core` when it is read.
    """

    __slots__ = ("_json",)

    def __init__(self, json: Mapping[str, Any]) -> None:
        self._json = json

    def __bool__(self) -> bool:
        return bool(self._json)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._json!r})"

    def has(self, key: str) -> bool:
        """Does the document have this key, whatever its value?"""
        return key in self._json

    def to_json(self, without: Iterable[str] = ()) -> dict[str, object]:
        """The JSON object without some keys, for writing it again."""
        if not without:
            return dict(self._json)
        return {key: value for key, value in self._json.items() if key not in without}


class Key(Generic[T_co]):
    """A key of a record, and its default value. A class may narrow the kind of records that it
    holds: `sync = parts(Sync)`."""

    __slots__ = ("_absent", "_make", "_name")

    def __init__(
        self, absent: T_co, make: Callable[[Any], T_co] | None = None, name: str = ""
    ) -> None:
        self._absent: Any = absent
        self._make = make
        self._name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = self._name or name

    @overload
    def __get__(self, record: None, owner: type) -> Key[T_co]: ...
    @overload
    def __get__(self, record: Record, owner: type) -> T_co: ...
    def __get__(self, record: Record | None, owner: type) -> Key[T_co] | T_co:
        if record is None:
            return self
        found = record._json.get(self._name)
        if found is None:
            return cast(T_co, self._absent)
        return cast(T_co, found) if self._make is None else self._make(found)


def part(kind: type[R], name: str = "") -> Key[R]:
    """A key with a record as its value; by default an empty record."""
    return Key(kind({}), kind, name)


def parts(kind: type[R]) -> Key[Sequence[R]]:
    """A key with a list of records as its value."""
    return Key([], lambda found: [kind(json) for json in found])


def parts_by_name(kind: type[R]) -> Key[Mapping[str, R]]:
    """A key with an object of records as its value."""
    return Key({}, lambda found: {key: kind(json) for key, json in found.items()})
