// The dialog with all facts about one cell.

function facts(caption, rows) {
  const shown = rows.filter(([, value]) => value !== undefined && value !== null && value !== "");
  if (shown.length === 0) return null;
  return element("table", {}, element("caption", {}, caption), element("tbody", {}, ...shown.map(
    ([key, value]) => element("tr", {}, element("th", { scope: "row" }, key), element("td", {}, value)))));
}

const lowToHigh = (low, high) => (low === high ? `${low}` : `${low} to ${high}`);

const list = (items) => (items?.length ? element("ul", {}, ...items.map((item) => element("li", {}, item))) : null);

function timer(rest) {
  const { step_ns: step, empty_ns: empty } = rest.device_timer ?? {};
  return step && `steps of ${duration(step)}; an empty row of ${duration(empty)} is subtracted`;
}

function numbers(run, cell, rest) {
  if (cell in run.below_ns) return [["median", cellText(run, cell)], ["device timer", timer(rest)]];
  if (!run.isMeasured(cell)) return [];
  const rounds = rest.workers.reduce((sum, worker) => sum + worker.samples_ns.length, 0);
  const each = rest.workers.map((worker) => worker.iterations ?? rest.iterations);
  const workers = rest.workers.length === 1 ? "one process" : `${rest.workers.length} processes`;
  const first = Math.max(...rest.workers.map((worker) => worker.first_ns));
  return [
    ["median", run.timeText(cell)],
    ["interval", `${run.intervalText(cell)} (${run.value("interval", cell)})`],
    ["between processes", rest.between_half_width && spread(rest.between_half_width)],
    ["median deviation", duration(rest.mad_ns)],
    ["device timer", timer(rest)],
    ["rounds", `${rounds} of ${lowToHigh(Math.min(...each), Math.max(...each))} exchanges, ${workers}`],
    // A phase and the clock `device` have no first call.
    ["first call", first > 0 ? `${duration(first)}, the longest of its workers; other cells may have warmed them` : ""],
    ["CPU time", duration(rest.cpu_time)],
    ["floor", rest.floor_ratio && `${number(rest.floor_ratio)} times the overhead floor`],
    ["rate", rest.gb_per_s && rate(rest.gb_per_s)],
    ["instructions", rest.instructions?.toLocaleString("en")],
  ];
}

function verdict(run, cell, rest) {
  const rows = [["outcome", run.value("outcome", cell)]];
  if (!run.isMeasured(cell)) {
    rows.push(["reason", run.reason(cell)], ["exception", rest.exception], ["signal", rest.signal],
      ["code", rest.code], ["stderr", rest.stderr_tail && element("pre", {}, rest.stderr_tail)]);
  }
  rows.push(["copied by", rest.copied_by], ["changed", rest.changed?.join(", ")],
    ["late read", rest.late_read === true ? "the source was still read after the call returned" : ""]);
  for (const [key, value] of Object.entries(rest.evidence ?? {})) {
    rows.push([key, { yes: "yes: memory is shared", no: "no: it was copied", skipped: "not tested" }[value]]);
  }
  return rows;
}

function observed(rest) {
  const found = rest.observed;
  if (!found) return [];
  const { guard } = found;
  const pages = guard && `${guard.read} of ${guard.pages} read, ${guard.written} written, ${guard.late} late`;
  return [
    ["protocol used", found.used], ["observed", found.via],
    ["calls", list(found.calls.map((call) => element("code", {}, call)))],
    ["struct", [found.struct, found.version.join(".")].filter(Boolean).join(" ")],
    ["flags", found.flags.join(", ")],
    ["pages", pages], ["by", guard && guard.by.join(", ")],
  ];
}

function breakdown(rest) {
  if (!rest.phases) return null;
  const rows = [["exchange", `${duration(rest.phases.exchange_ns)} in the rounds of its phases`],
    ...rest.phases.parts.map((part) => [part.phase, `${duration(part.ns)}  ${part.what}`])];
  rows.push(["unexplained", `${duration(rest.unexplained_ns)} of ${duration(rest.phases.exchange_ns)}`]);
  return facts(`Phases, via ${rest.phases.via}`, rows);
}

function versions(run, cell) {
  const found = run.environment(cell);
  if (!found) return [];
  const sides = [...new Set([run.value("producer", cell), run.value("consumer", cell)])];
  return [["Python", found.python], ...sides.map((name) => [name, found.libraries[name]])];
}

// Axes for which a command has a default.
const DEFAULTED = ["phase", "clock", "environment"];

function commands(run, cell) {
  const words = ["producer", "consumer", "protocol", "bytes"].map((axis) => String(run.value(axis, cell)));
  for (const axis of ["device", "case", "machine", ...DEFAULTED]) {
    const value = run.value(axis, cell);
    const isDefault = DEFAULTED.includes(axis) && value === USUAL[axis];
    if (run.levels(axis).length > 1 && !isDefault) words.push(String(value));
  }
  // Only whole exchanges on the clock `call` have instruction counts.
  const counted = ["phase", "clock"].every((axis) => run.value(axis, cell) === USUAL[axis]);
  const verbs = ["show", ...(!run.isMeasured(cell) ? ["repro"] : counted ? ["explain"] : [])];
  const environment = run.value("environment", cell);
  const starts = environment === USUAL.environment ? "" : ` --env ${quoted(`${environment}=PYTHON`)}`;
  return verbs.map((verb) => `dlbench ${verb} ${run.name} ${words.map(quoted).join(" ")}`
    + (verb === "explain" ? starts : ""));
}

function cellAxes(run, cell) {
  return run.choice.filter((axis) => ["protocol", "device", "case", "bytes"].includes(axis)
    || (run.value(axis, cell) !== USUAL[axis])).map((axis) => level(axis, run.value(axis, cell)));
}

async function openCell(run, cell) {
  const rest = await run.rest(cell);
  const dialog = byId("cell");
  const close = element("button", { type: "button", class: "close" }, "close");
  close.addEventListener("click", () => dialog.close());
  const title = `${run.value("producer", cell)} \u2192 ${run.value("consumer", cell)}`;
  const chart = element("div", { class: "chart", role: "img", "aria-label": "Time of each round, and the spread of the rounds" });
  const values = rest.workers?.map((worker) => worker.samples_ns.map(duration).join(", ")).join("; ");
  dialog.replaceChildren(...[
    close, element("h2", { id: "cell-title" }, title),
    element("p", { class: "note" }, cellAxes(run, cell).join(" \u00b7 ")),
    element("p", { class: "note" }, element("code", {}, rest.name)),
    rest.warnings?.length ? element("div", {}, element("strong", {}, "Warnings"), list(rest.warnings.map((warning) => warning.text))) : null,
    run.isMeasured(cell) ? chart : null,
    run.isMeasured(cell) ? element("details", {}, element("summary", {}, "rounds as numbers"), values) : null,
    element("div", { class: "facts" }, ...[facts("Time", numbers(run, cell, rest)),
      facts("Verdict", verdict(run, cell, rest)), facts("What was called", observed(rest)), breakdown(rest),
      facts("Versions", versions(run, cell))].filter(Boolean)),
    element("h3", {}, "Commands"), ...commands(run, cell).map((line) => copyable(line)),
    rest.script ? element("details", {}, element("summary", {}, "script that reproduces this outcome"),
      copyable(rest.script, "pre")) : null,
  ].filter(Boolean));
  if (!dialog.open) dialog.showModal();
  keep({ cell: rest.name });
  if (run.isMeasured(cell)) drawSamples(chart, run, cell, rest.workers);
}
