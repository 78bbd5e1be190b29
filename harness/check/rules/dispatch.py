"""NumPy's functions on an array that overrides them: the result keeps its type and extras."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dlbench.check.reading import describe_error
from dlbench.check.rule import NEP13, NEP18, producer_rule
from dlbench.check.subject import Subject
from dlbench.check.verdict import NotApplicable, Unclear, assume, expect

rule = partial(producer_rule, level="should")


def kept(subject: Subject, method: str, function: Callable[[Any], Any]) -> str:
    """Its type and extras, after a function that calls the method."""
    array = subject.make()
    converts = getattr(type(array), method, None) is None
    try:
        result = function(array)
    except Exception as error:
        if converts:
            raise NotApplicable(
                f"no {method}: NumPy converts it, {describe_error(error)}"
            ) from None
        raise Unclear(f"the function raises {describe_error(error)}") from None
    same = type(result) is type(array)
    kind = f"{type(result).__module__}.{type(result).__qualname__}"
    lost = [word for word in subject.extras(array)
            if not same or word not in subject.extras(result)]  # fmt: skip
    observed = "its type is kept" if same else f"it becomes a {kind}"
    observed += f", {' and '.join(lost)} dropped" if lost else ""
    assume(not converts, f"no {method}: NumPy converts it, {observed}")
    expect(same, observed)
    if lost:
        raise Unclear(f"{observed}: the text leaves to the type what its result keeps")
    return observed


@rule("dispatch.ufunc", NEP13, reads_extras=True)
def ufunc(subject: Subject) -> str:
    """np.multiply(x, x) of an array that has __array_ufunc__ is of its type, with unit and mask

    result = np.multiply(array, array)
    assert type(result) is type(array), type(result)
    assert set({extras}(array)) <= set({extras}(result)), result
    """
    import numpy as np

    return kept(subject, "__array_ufunc__", lambda array: np.multiply(array, array))


@rule("dispatch.function", NEP18, reads_extras=True)
def function(subject: Subject) -> str:
    """np.concatenate([x, x]) of such an array is of its type, with unit and mask

    result = np.concatenate([array, array])
    assert type(result) is type(array), type(result)
    assert set({extras}(array)) <= set({extras}(result)), result
    """
    import numpy as np

    return kept(subject, "__array_function__", lambda array: np.concatenate([array, array]))
