"""pytest: one test for each rule. `-p dlbench.check.pytest_plugin` loads it, on the command line or
in `addopts`. It has no entry point: of a distribution with one pytest lists all files in each run,
which takes 5 to 15 ms here.

`dlbench_adapter` in the ini-file names the adapter that is checked. `dlbench_known` lists accepted
deviations, RULE LINK a line: they must fail (strict xfail). `tests/my_adapter.py::export.copy-true`
is the node id of a rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dlbench.check.rule import Rule
    from dlbench.check.runner import Library, Result
    from dlbench.check.subject import Subject

ADAPTER = pytest.StashKey[Path]()
LIBRARY = pytest.StashKey["Library"]()


class RuleBroken(Exception):  # noqa: N818
    """The message of a broken rule, instead of a traceback through dlbench."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "dlbench_adapter", "adapter file with `make` and `PROTOCOLS`: check it", default=""
    )
    parser.addini("dlbench_known", "accepted deviations: RULE LINK a line", "linelist", default=[])


def known(config: pytest.Config) -> dict[str, str]:
    """rule -> link. Raises UsageError for a line of another form."""
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


def pytest_configure(config: pytest.Config) -> None:
    if not config.getini("dlbench_adapter"):
        return
    config.stash[ADAPTER] = config.rootpath / config.getini("dlbench_adapter")
    if config.args_source is not config.ArgsSource.ARGS:
        add_adapter(config, config.stash[ADAPTER])


def add_adapter(config: pytest.Config, adapter: Path) -> None:
    """Nothing is selected by name: the adapter is collected, even outside `testpaths`."""
    places = [config.invocation_params.dir / word for word in config.args]
    if not any(adapter.is_relative_to(place) for place in places):
        config.args.append(str(adapter))


def pytest_collection(session: pytest.Session) -> None:
    """Raises UsageError for an unusable adapter, before any test is collected."""
    if ADAPTER not in session.config.stash:
        return
    from dlbench.errors import BadInput

    known(session.config)
    try:
        session.stash[LIBRARY] = library_of(session.config.stash[ADAPTER])
    except BadInput as error:
        raise pytest.UsageError(str(error)) from None


def is_adapter(path: Path, config: pytest.Config) -> bool:
    """Is it the file of `dlbench_adapter`?"""
    adapter = config.stash.get(ADAPTER, None)
    return adapter is not None and adapter.name == path.name and adapter.resolve() == path.resolve()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not is_adapter(file_path, parent.config):
        return None
    file: pytest.Collector = RuleFile.from_parent(parent, path=file_path)
    return file


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Collector | None:
    """pytest also imports a file that an argument names as a module of tests. The adapter is one
    only where its name is that of such a file."""
    patterns = parent.config.getini("python_files")
    if not is_adapter(module_path, parent.config) or any(map(module_path.match, patterns)):
        return None
    file: pytest.Collector = NoTests.from_parent(parent, path=module_path)
    return file


def library_of(path: Path) -> Library:
    """One file with both roles, or one of them. Raises BadInput if it is unusable."""
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
    """A library: its safe rules run here; those that may crash run in a worker, all at once."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._subject: Subject | None = None
        self._risky: dict[str, Result] | None = None

    def hold(self, rule: Rule) -> tuple[str, str]:
        """The rule's outcome and what was seen."""
        from dlbench.check import runner, running
        from dlbench.check.rules import RULES
        from dlbench.check.verdict import NOT_APPLICABLE

        has = {"producer": self.library.producer, "consumer": self.library.consumer}
        if has[rule.role] is None:
            return NOT_APPLICABLE, str(running.absent(rule))
        if rule.risky:
            if self._risky is None:
                risky = [one for one in RULES.by_name.values() if one.risky]
                self._risky = runner.check(self.library, risky).results
            result = self._risky[rule.name]
            return result.outcome, result.observed
        if self._subject is None:
            self._subject, _ = running.load(self.library.request())
        return running.conclusion(self._subject, rule)

    def script(self, rule: Rule, observed: str) -> str:
        """The rule's script; empty for a rule that no script shows."""
        from dlbench.check import script as rule_script

        if not rule.lines:
            return ""

        path = getattr(self.library, rule.role)
        return rule_script.script(
            rule,
            observed,
            path,
            self.library.name,
            "",
            device=self.library.device,
            other=getattr(self.library, "producer" if rule.role == "consumer" else "consumer"),
        )


class RuleFile(pytest.File):
    """The file of `dlbench_adapter`: a test for each rule."""

    def collect(self) -> Iterator[RuleItem]:
        from dlbench.check.rules import RULES

        checked, links = Checked(self.session.stash[LIBRARY]), known(self.config)
        for rule in RULES.by_name.values():
            item: RuleItem = RuleItem.from_parent(self, name=rule.name, checked=checked, rule=rule)
            if link := links.get(rule.name):
                item.add_marker(pytest.mark.xfail(reason=link, strict=True, raises=RuleBroken))
            yield item


class NoTests(pytest.File):
    """The adapter in its other role, as a module of tests."""

    def collect(self) -> list[pytest.Item]:
        return []


class RuleItem(pytest.Item):
    """One rule of one library."""

    def __init__(self, *, checked: Checked, rule: Rule, **more: Any) -> None:
        super().__init__(**more)
        self.checked = checked
        self.rule = rule
        self.extra_keyword_matches.add("dlbench")

    def runtest(self) -> None:
        __tracebackhide__ = True
        from dlbench.check.verdict import BROKEN, HOLDS
        from dlbench.text.escaping import log_line

        outcome, observed = self.checked.hold(self.rule)
        if outcome == HOLDS:
            return
        observed = log_line(observed)
        if outcome != BROKEN:
            pytest.skip(f"{outcome}: {observed}")
        rule, script = self.rule, self.checked.script(self.rule, observed)
        raise RuleBroken(f"{rule.sentence}\n{rule.section}\nobserved: {observed}\n\n{script}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, RuleBroken):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name
