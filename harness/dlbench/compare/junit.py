"""A comparison as JUnit XML: a case for each cell, judged as --fail-on judges it."""

from __future__ import annotations

from dlbench import values
from dlbench.analysis import compared
from dlbench.compare import gate
from dlbench.document import ComparedCell, Comparison
from dlbench.text import junit

GROUP = "dlbench.compare"


def xml(comparison: Comparison, fail_on: tuple[str, ...]) -> bytes:
    """The file.

    A regression fails if --fail-on names it, else it is skipped; it never passes. An inconclusive
    cell is an error or skipped.
    """
    cases = [_case(cell, comparison, fail_on) for cell in comparison.cells]
    properties = {"metric": comparison.metric, "threshold": values.percent(comparison.threshold),
                  "fail-on": ",".join(fail_on) or gate.NONE}  # fmt: skip
    for name, side in comparison.sides.items():
        facts = {"runs": " ".join(side.runs), "environment": side.environment,
                 "python": side.python, "date": side.date}  # fmt: skip
        versions = (f"{library} {version}" for library, version in sorted(side.libraries.items()))
        facts["libraries"] = ", ".join(versions)
        properties |= {f"{name}.{key}": value for key, value in facts.items() if value}
    warnings = "\n".join(warning.text for warning in comparison.warnings)
    return junit.xml(GROUP, [junit.Suite(GROUP, cases, 0.0, properties, warnings)])


def _case(cell: ComparedCell, comparison: Comparison, fail_on: tuple[str, ...]) -> junit.Case:
    facts = _describe(cell, comparison.metric)
    problem = _problem(cell, comparison, fail_on, facts)
    return junit.Case(GROUP, cell.name, problem, "" if problem else facts)


def _problem(
    cell: ComparedCell, comparison: Comparison, fail_on: tuple[str, ...], facts: str
) -> junit.Problem | None:
    regressions = gate.regressions(cell)
    if regressions:
        failing = [word for word in regressions if word in fail_on]
        kind: junit.Kind = "failure" if failing else "skipped"
        message = ", ".join(failing or regressions)
        message += "" if failing else ": not in --fail-on"
        return junit.Problem(kind, (failing or regressions)[0], f"{message}: {_short(cell)}", facts)
    if cell.verdict == "INCONCLUSIVE":
        kind = "error" if gate.INCONCLUSIVE in fail_on else "skipped"
        change = values.percent(comparison.threshold)
        message = f"inconclusive: could hide a change of {change}"
        if cell.inconclusive and cell.inconclusive.code:
            message += f" ({cell.inconclusive.code})"
        return junit.Problem(kind, gate.INCONCLUSIVE, message, facts)
    if cell.verdict == "AMBIG":
        message = "not decided: too small to be significant, too large to be none"
        return junit.Problem("skipped", "AMBIG", message, facts)
    if cell.result == "" and cell.base != cell.head:
        return junit.Problem("skipped", "not-compared", "measured on one side only", facts)
    return None


def _short(cell: ComparedCell) -> str:
    """The change in one line."""
    parts = [] if cell.ratio is None else [compared.change(cell.ratio, cell.share)]
    if cell.outcome_change or cell.presence != "both":
        parts.append(cell.outcomes)
    return ", ".join(parts) or cell.result


def _describe(cell: ComparedCell, metric: str) -> str:
    """All facts about the cell, one a line."""
    sides = {
        "base": (cell.base, cell.base_outcome, cell.base_workers),
        "head": (cell.head, cell.head_outcome, cell.head_workers),
    }
    lines = [f"verdict: {cell.result or 'none'}"]
    lines += [f"speed: {cell.speed}"] if cell.speed not in (cell.result, "") else []
    for name, (number, outcome, workers) in sides.items():
        facts = [compared.amount(number, metric, cell.share), outcome or "absent"]
        facts += [f"workers: {workers}"] if workers else []
        lines.append(f"{name}: {', '.join(fact for fact in facts if fact)}")
    if cell.ratio is not None:
        lines.append(f"change: {compared.change(cell.ratio, cell.share)}")
    if metric == "time" and cell.interval is not None:
        lines.append(f"95 % interval: {compared.interval(cell)}")
    if cell.minimum_detectable_change is not None:
        change = values.percent(cell.minimum_detectable_change)
        lines.append(f"minimum detectable change: {change}")
    if cell.inconclusive and cell.inconclusive.replicas:
        lines.append(f"processes a side that would decide it: about {cell.inconclusive.replicas}")
    return "\n".join([*lines, *cell.details])
