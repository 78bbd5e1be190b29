"""`dlbench check`."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from dlbench import _core, writing
from dlbench.analysis.calls import CALL
from dlbench.check import call_table, conformance, junit, known, runner, section, table
from dlbench.check.rule import ROLES, Rule
from dlbench.check.rules import RULES
from dlbench.check.verdict import BROKEN
from dlbench.device import Device
from dlbench.document import Check, boundary_path, locate, parse_document, read_document
from dlbench.environments import probe
from dlbench.environments.environment import Environment, here
from dlbench.errors import BadInput, os_line
from dlbench.libraries import arguments, discover
from dlbench.running import completion, options, run, rundir
from dlbench.running.request import Request
from dlbench.scripts import bug_report, running
from dlbench.terminal import terminal
from dlbench.text import output
from dlbench.text.escaping import markdown
from dlbench.text.output import Console

#: The parameters that print something else than checks, and the others that each reads.
MODES = {
    "names": (),
    "calls": ("libraries", "adapters", "env", "timeout", "markdown", "run", "force"),
    "explain": ("libraries", "adapters", "device", "env"),
    "issue": ("libraries", "adapters", "device", "env", "timeout"),
}


def print_lines(lines: Sequence[str], console: Console) -> None:
    """The words, unchanged."""
    terminal.show([Text(line) for line in lines], console)


@click.command("check")
@click.argument("libraries", nargs=-1, shell_complete=completion.of(completion.libraries))
@options.words_option("--only", "Check only these rules or groups: export,c-api. Default: all.")
@click.option(
    "--known",
    "known_file",
    metavar="FILE",
    help="Accept the broken rules in FILE, one line each: LIBRARY RULE LINK.",
)
@click.option(
    "--explain",
    metavar="RULE",
    shell_complete=completion.of(lambda _: RULES.by_name),
    help="Print the sentence of RULE, its section and a script.",
)
@click.option(
    "--issue",
    metavar="RULE",
    shell_complete=completion.of(lambda _: RULES.by_name),
    help="Check RULE and run its script; print a bug report in Markdown if it is broken.",
)
@click.option(
    "--calls",
    is_flag=True,
    help="Check what each binding, or those named, does with arguments of another kind.",
)
@click.option(
    "--run",
    metavar="RUN",
    shell_complete=completion.runs,
    help="With --calls: check the bindings of RUN, and keep the table for its report.",
)
@click.option("--rules", "names", is_flag=True, help="List all rules.")
@click.option("--markdown", metavar="FILE", help="Write the table of libraries and rules to FILE.")
@click.option(
    "--junit", metavar="FILE", help="Write a test case for each rule to FILE as JUnit XML."
)
@options.FORCE
@click.option(
    "--device",
    help="Check arrays on this device: cuda:0. Default: cpu, or the library's first device.",
)
@click.option(
    "--adapters", metavar="DIR", help="Load the adapters in DIR/producers and DIR/consumers too."
)
@click.option(
    "--env", metavar="NAME=PYTHON", help="Check the libraries of that Python instead of this one."
)
@click.option(
    "--timeout", metavar="TIME", default="60s", help="Deadline of one rule. Default: 60s."
)
@click.option(
    "--out",
    metavar="DIR",
    help="Write results.json and a script for each broken rule to this folder.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Print rules that hold or do not apply too."
)
@click.pass_context
def check(ctx: click.Context, /, libraries: tuple[str, ...], **params: Any) -> int:
    """Check libraries against the rules of the protocols.

    Exit code 1 if a rule is broken that --known does not list, 2 if nothing could be judged.
    """
    console = Console()
    for mode, read in MODES.items():
        options.require_read(ctx, mode, read)
    if params["names"]:
        print_lines(table.rules(console.width), console)
        return 0
    if params["calls"]:
        return check_calls(libraries, params, console)
    if params["run"]:
        raise BadInput("--run needs --calls")
    if params["explain"]:
        if len(libraries) > 1:
            raise BadInput("--explain needs one library, for its script")
        explain(libraries, params, console)
        return 0
    if params["issue"]:
        if len(libraries) != 1:
            raise BadInput("--issue needs one library")
        output.write_text(issue(libraries[0], params))
        return 0
    chosen = rules_of(params["only"])
    if not libraries:
        raise BadInput(
            "missing library: for example 'dlbench check numpy'; 'dlbench list' lists them"
        )
    place = environment_of(params)
    accepted = accepted_in(params["known_file"], params["adapters"], place)
    if params["markdown"]:
        writing.require_free(Path(params["markdown"]), "--markdown", force=params["force"])
    if params["junit"]:
        writing.require_free(Path(params["junit"]), "--junit", force=params["force"])
    found = [
        library_of(name, params["adapters"], params["device"], place)
        for name in dict.fromkeys(libraries)
    ]
    for library in found:
        if library.is_device_requested and (why := Request().axes().why_missing(library.device)):
            raise BadInput(f"nothing to check: no-device: {why}")
    return run_checks(found, chosen, accepted, place, params, console)


def check_calls(libraries: Sequence[str], params: dict[str, Any], console: Console) -> int:
    """Prints, or writes, what bindings do with arguments of another kind; the exit status."""
    if params["markdown"]:
        writing.require_free(Path(params["markdown"]), "--markdown", force=params["force"])
    kept = None
    if params["run"]:
        place = locate(params["run"])
        kept = boundary_path(place)
        writing.require_free(kept, "--run", force=params["force"])
        calls = [one for one in read_document(place).entries if one.protocol == CALL]
        libraries = libraries or list(dict.fromkeys(one.consumer for one in calls))
        if not libraries:
            raise BadInput(f"--run {params['run']}: the run has no calls, as of 'dlbench --calls'")
    found = run.find_adapters(params["adapters"], environment_of(params))
    made = []
    for row in call_table.rows(libraries, found, _core.parse_seconds(params["timeout"]), run.warn):
        if isinstance(row, str):
            run.warn(row)
            continue
        made.append(row)
        print_lines(call_table.lines(row, console.width), console)
    if not made:
        raise BadInput("no binding could be checked")
    if params["markdown"]:
        text = call_table.as_markdown(made, " ".join(["dlbench", *sys.argv[1:]])).encode()
        writing.write_requested(Path(params["markdown"]), lambda out: out.write(text))
    if kept:
        table_json = call_table.as_json(made, found)
        writing.write_or_refuse(kept, lambda out: out.write(table_json))
    return 0


def environment_of(params: dict[str, Any]) -> Environment:
    """That of --env, else our own. Raises BadInput unless rules can run there."""
    texts = [params["env"]] if params["env"] else []
    place = probe.find(texts, _core.parse_seconds(params["timeout"]))[-1]
    place.require_worker()
    if not place.is_built("_check"):
        why = probe.not_built("_check", place.version, place.suffixes[0], place.python)
        raise BadInput(f"environment {place.name!r}: {why}")
    return place


def accepted_in(path: str | None, adapters: str | None, place: Environment) -> known.Known:
    """The entries of --known. Raises BadInput for one of an unknown library."""
    if not path:
        return {}
    accepted = known.read(Path(path))
    files = list(run.find_adapters(adapters, place).files)
    for name in dict.fromkeys(library for library, _ in accepted):
        if arguments.split(name)[0] not in files:
            raise BadInput(f"--known {path}: {discover.unknown(name, files)}")
    return accepted


def rules_of(only: Sequence[str] | None) -> list[Rule]:
    """All rules, or those that --only names: rules and groups."""
    words = only or ()
    groups = {rule.group for rule in RULES.by_name.values()}
    for word in words:
        if word not in groups:
            known.require_rule(word, "--only: ")
    return [
        rule
        for rule in RULES.by_name.values()
        if not words or rule.name in words or rule.group in words
    ]


def library_of(
    name: str,
    adapters: str | None,
    device: str | None = None,
    place: Environment | None = None,
) -> runner.Library:
    """Raises BadInput, naming what is nearest, for a library that is not there. Without a device
    arrays lie on the CPU, or where the library has them first if it has none there."""
    place = place or here()
    found = run.find_adapters(adapters, place)
    try:
        roles = found.roles(name)
        found.chosen([name])
    except KeyError:
        raise BadInput(discover.unknown(name, found.files)) from None
    about = discover.library(name, roles, place)
    if not about.installed:
        raise BadInput(f"{name} is not installed: {about.why_not}")
    is_requested = device is not None
    if device is None:
        device = "cpu" if "cpu" in about.devices or not about.devices else about.devices[0]
    else:
        device = _core.parse_device(device, [about])
        if device != "cpu" and not {device, Device.parse(device).kind} & set(about.devices):
            run.warn(f"{name} does not list {device}; its adapter is tried with it")
    paths = {role: roles[role].path if role in roles else None for role in ROLES}
    return runner.Library(
        name,
        paths["producer"],
        paths["consumer"],
        device=device,
        python=place.python,
        is_device_requested=is_requested,
    )


def run_checks(
    found: Sequence[runner.Library],
    chosen: Sequence[Rule],
    accepted: known.Known,
    place: Environment,
    params: dict[str, Any],
    console: Console,
) -> int:
    """Check each library, print as it comes, write the files; the exit status."""
    timeout_s = _core.parse_seconds(params["timeout"])
    folder = rundir.fresh(params["out"])
    began = time.monotonic()
    checks: list[section.Entry] = []
    unfit: list[str] = []
    cases: list[junit.Checked] = []
    newly = 0
    try:
        for library in found:
            library_began = time.monotonic()
            try:
                report = runner.check(library, chosen, timeout_s)
            except BadInput as error:
                unfit.append(str(error))
                seconds = time.monotonic() - library_began
                cases.append(junit.Checked(library.name, seconds, failure=str(error)))
                continue
            mine = {rule: link for (name, rule), link in accepted.items() if name == library.name}
            reported = section.entries(library, report, mine)
            checks += reported
            seconds = time.monotonic() - library_began
            cases.append(junit.Checked(library.name, seconds, [Check(entry) for entry in reported]))
            unfit += [
                f"{library.name}: no rule about the {role} could be judged: {why}"
                for role in ROLES
                if (why := runner.unjudged(report.results.values(), role))
            ]
            newly += sum(
                entry["outcome"] == BROKEN and not entry.get("accepted") for entry in reported
            )
            lines = table.of_library(
                [Check(entry) for entry in reported], console.width, everything=params["everything"]
            )
            print_lines([*lines, ""], console)
            outcomes = {name: result.outcome for name, result in report.results.items()}
            for rule in known.stale(accepted, library.name, outcomes):
                run.warn(f"{params['known_file']}: {library.name} {rule} is not broken any more")
        made = section.document(checks, sys.argv, time.monotonic() - began, place)
        # First: where another file cannot be written, the results are kept.
        written = section.write(folder, made) if checks or not unfit else []
    except OSError as error:
        raise BadInput(os_line(folder, error)) from error
    except BadInput:
        rundir.remove_folder(folder)
        raise
    if written:
        shown = f"{folder}: results.json"
        shown += f", {len(written) - 1} scripts LIBRARY-RULE.py" if len(written) > 1 else ""
        print_lines([f"{time.monotonic() - began:.1f} s  ->  {shown}"], console)
    else:
        rundir.remove_folder(folder)
    if params["junit"]:
        made_xml = junit.xml(cases)
        writing.write_requested(Path(params["junit"]), lambda out: out.write(made_xml))
    if params["markdown"] and written:
        conformance.write(Path(params["markdown"]), parse_document(made))
    if unfit:
        raise BadInput("; ".join(unfit))
    return 1 if newly else 0


def explain(libraries: Sequence[str], params: dict[str, Any], console: Console) -> None:
    """The rule, and its script for the library that is named."""
    name, device = params["explain"], params["device"]
    known.require_rule(name)
    rule = RULES.by_name[name]
    script = ""
    for word in libraries:
        library = library_of(word, params["adapters"], device, environment_of(params))
        path = getattr(library, rule.role)
        if path is not None:
            from dlbench.check import script as rule_script

            with contextlib.suppress(BadInput):  # the queue of a device is not filled by a script
                script = rule_script.script(rule, "", path, word, "", device=library.device)
    print_lines(table.explained(rule, console.width, script), console)


def issue(name: str, params: dict[str, Any]) -> str:
    """The bug report of a broken rule. Raises BadInput for a rule that is not broken."""
    known.require_rule(params["issue"])
    rule = RULES.by_name[params["issue"]]
    place, timeout_s = environment_of(params), _core.parse_seconds(params["timeout"])
    library = library_of(name, params["adapters"], params["device"], place)
    report = runner.check(library, [rule], timeout_s)
    (found,) = map(Check, section.entries(library, report, {}))
    if found.outcome != BROKEN or not found.reproducer:
        raise BadInput(f"no fault to report: {rule.name}: {found.outcome}: {found.observed}")
    verdict = running.run_script(found.reproducer, place, timeout_s)
    facts = [
        f"Rule: {rule.name}, written in {markdown(rule.section)} ({rule.level})",
        f"Observed: {markdown(found.observed)}",
    ]
    facts += [f"Known report: {found.issue}"] * bool(found.issue)
    title = f"{f'{name} {found.version}'.strip()} breaks a rule: {rule.sentence}"
    return bug_report.text(title, facts, found.reproducer, verdict, place, library.device)
