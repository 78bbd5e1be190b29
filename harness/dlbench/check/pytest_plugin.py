"""pytest: one test for each rule.

`pytest --dlbench-library=torch`, or a file of one's own (`dlbench_adapter` in the ini-file), or a
test with the fixtures `dlbench_rule` and `dlbench_library`. `dlbench_known` lists accepted
deviations, RULE LINK a line: they must fail (strict xfail).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dlbench.check.rule import Rule
    from dlbench.check.runner import Library, Result
    from dlbench.check.subject import Subject


class RuleBroken(Exception):  # noqa: N818
    """What is shown of a broken rule, instead of a trace through dlbench."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dlbench", "dlbench: array-interchange protocols")
    group.addoption(
        "--dlbench-library",
        action="append",
        default=[],
        metavar="NAME",
        help="check this library by dlbench's adapter for it, one test a rule; repeatable",
    )
    parser.addini(
        "dlbench_adapter", "adapter file with `make` and `PROTOCOLS`: check it", default=""
    )
    parser.addini("dlbench_known", "accepted deviations: RULE LINK a line", "linelist", default=[])


def known(config: pytest.Config) -> dict[str, str]:
    """rule -> link. Raises UsageError for a line that is not as that."""
    from dlbench.check.rules import RULES

    found = {}
    for line in config.getini("dlbench_known"):
        words = line.split()
        if len(words) != 2 or words[0] not in RULES.by_name or "://" not in words[1]:
            raise pytest.UsageError(
                f"dlbench_known: {line!r} is not RULE LINK; 'dlbench check --rules' names the rules"
            )
        found[words[0]] = words[1]
    return found


def marks(config: pytest.Config, rule: str) -> list[pytest.MarkDecorator]:
    """A known deviation must fail."""
    link = known(config).get(rule)
    return [pytest.mark.xfail(reason=link, strict=True, raises=RuleBroken)] if link else []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    names = config.getoption("--dlbench-library")
    adapter = config.getini("dlbench_adapter")
    if not names and not adapter:
        return
    from dlbench.check.rules import RULES
    from dlbench.errors import BadInput

    try:
        checked = [Checked(named(name)) for name in names]
        if adapter:
            checked.append(Checked(of_file(config.rootpath / adapter)))
    except BadInput as error:
        raise pytest.UsageError(str(error)) from None
    for one in checked:
        for rule in RULES.by_name.values():
            item = RuleItem.from_parent(
                session, name=f"dlbench[{one.library.name}-{rule.name}]", checked=one, rule=rule
            )
            for mark in marks(config, rule.name):
                item.add_marker(mark)
            items.append(item)


def named(name: str) -> Library:
    """A library by its adapter. Raises BadInput where there is none, or it is not installed."""
    from dlbench.check.verb import library_of

    return library_of(name, None)


def of_file(path: Path) -> Library:
    """One file with both roles, or one of them. Raises BadInput where it is unfit."""
    from dlbench.check.runner import Library
    from dlbench.errors import BadInput
    from dlbench.libraries import facts

    tree = facts.parse(path)
    names = {bound for node in tree.body for bound in facts.bound_names(node)}
    if not names & {"make", "PROTOCOLS"}:
        raise BadInput(f"adapter {path} defines neither make nor PROTOCOLS")
    producer = path if "make" in names else None
    return Library(path.stem, producer, path if "PROTOCOLS" in names else None)


class Checked:
    """A library: its safe rules are held here, those that may crash in a worker, all at once."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._subject: Subject | None = None
        self._risky: dict[str, Result] | None = None

    def hold(self, rule: Rule) -> tuple[str, str]:
        """The rule's outcome and what was seen."""
        from dlbench.check import runner, running
        from dlbench.check.rule import NOT_APPLICABLE
        from dlbench.check.rules import RULES

        has = {"producer": self.library.producer, "consumer": self.library.consumer}
        if has[rule.role] is None:
            return NOT_APPLICABLE, str(running.absent(rule))
        if rule.risky:
            if self._risky is None:
                risky = [one for one in RULES.by_name.values() if one.risky]
                self._risky = runner.check(self.library, risky).results
            result = self._risky[rule.name]
            return result.outcome, result.seen
        if self._subject is None:
            self._subject, _ = running.load(self.library.request())
        return running.conclusion(self._subject, rule)

    def script(self, rule: Rule, seen: str) -> str:
        """The rule's script."""
        from dlbench.scripts import rule as rule_script

        path = getattr(self.library, rule.role)
        return rule_script.script(
            rule, seen, path, self.library.name, "", device=self.library.device
        )


class RuleItem(pytest.Item):
    """One rule of one library."""

    def __init__(self, *, checked: Checked, rule: Rule, **more: Any) -> None:
        super().__init__(**more)
        self.checked = checked
        self.rule = rule

    def runtest(self) -> None:
        conclude(self.rule, *self.checked.hold(self.rule), self.checked.script)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, RuleBroken):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        return Path("dlbench"), None, self.name


def conclude(
    rule: Rule, outcome: str, seen: str, script: Callable[[Rule, str], str] | None = None
) -> None:
    """Ends a test as the rule ended."""
    __tracebackhide__ = True
    from dlbench.check.rule import BROKEN, HOLDS
    from dlbench.text.escaping import log_line

    if outcome == HOLDS:
        return
    seen = log_line(seen)
    if outcome != BROKEN:
        pytest.skip(f"{outcome}: {seen}")
    shown = f"\n\n{script(rule, seen)}" if script else ""
    raise RuleBroken(f"{rule.sentence}\n{rule.section}\nseen: {seen}{shown}")


# A maintainer's own functions.


def library(make: Callable[..., Any] | None = None, **protocols: Any) -> Subject:
    """For a fixture `dlbench_library`: `make(case, device)`, and imports by protocol's name, as
    `dlpack=mylib.from_dlpack`."""
    from dlbench.check.subject import Subject

    producer: Any = SimpleNamespace(make=make) if make else None
    consumer: Any = SimpleNamespace(PROTOCOLS=protocols) if protocols else None
    return Subject("own", producer, consumer)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "dlbench_rule" not in metafunc.fixturenames:
        return
    from dlbench.check.rules import RULES

    rules = [
        pytest.param(name, marks=marks(metafunc.config, name), id=name) for name in RULES.by_name
    ]
    metafunc.parametrize("dlbench_rule", rules, indirect=True)


@pytest.fixture
def dlbench_library() -> Subject:
    """A test that uses `dlbench_rule` must define it."""
    raise pytest.UsageError(
        "define a fixture dlbench_library that returns dlbench.check.pytest_plugin.library(...)"
    )


@pytest.fixture
def dlbench_rule(request: pytest.FixtureRequest, dlbench_library: Subject) -> Callable[[], None]:
    """Call it: it holds the rule."""
    from dlbench.check import running
    from dlbench.check.rules import RULES

    rule = RULES.by_name[request.param]

    def hold() -> None:
        __tracebackhide__ = True
        if rule.risky:
            pytest.skip("breaking it may crash: name an adapter file in dlbench_adapter")
        conclude(rule, *running.conclusion(dlbench_library, rule))

    return hold
