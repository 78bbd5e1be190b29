"""Lines that a script of `call` begins with: the body of the function, and the verdict on what it
gets. The body reads the first bytes at each address, because a copy may be gone after the call."""

import ctypes

BYTES = 4

seen: list[list[int]] = []
read: list[list[bytes]] = []


def bytes_at(places: tuple[int, ...]) -> list[bytes]:
    return [ctypes.string_at(place, BYTES) if place else b"" for place in places]


def body(*places: int) -> None:
    seen.append([place or 0 for place in places])
    read.append(bytes_at(places))


def verdict(places: list[int]) -> str:
    got = seen[0] if len(seen) == 1 else []
    others = {one for one, place in zip(got, places, strict=False) if one != place}
    if len(seen) != 1 or len(got) != len(places) or others & {0, *places}:
        return f"wrong: the body got {seen}, not {[places]}"
    if read[0] != bytes_at(tuple(places)):
        return "wrong: a copy has other values"
    return "copy" if others else "zero-copy"
