"""Lines that a script of `call` begins with: the body of the function, and the verdict on what it
gets."""

seen: list[list[int]] = []


def body(*places: int) -> None:
    seen.append([place or 0 for place in places])


def verdict(places: list[int]) -> str:
    got = seen[0] if len(seen) == 1 else []
    others = {one for one, place in zip(got, places, strict=False) if one != place}
    if len(seen) != 1 or len(got) != len(places) or others & {0, *places}:
        return f"wrong: the body got {seen}, not {[places]}"
    return "copy" if others else "zero-copy"
