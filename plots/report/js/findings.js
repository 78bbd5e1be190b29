// The run's summary and findings, and the pairs that copy, with their rates.

function drawSummary(run) {
  drawFound("summary-table", run.summary);
}

function drawFindings(run) {
  drawFound("findings-table", run.findings);
}

function drawFound(id, found) {
  const heads = ["finding", "where and why", "next command"];
  // A line does not end within the name of an option.
  const parts = (text) => text.split(/(--[\w-]+)/).map((part, i) => (i % 2 ? element("span", { class: "option" }, part) : part));
  const rows = found.map((row) => () => [row.label,
    element(...(row.section ? ["a", { href: `#${row.section}` }] : ["span", {}]), ...parts(row.text)),
    row.command ? copyable(row.command) : ""]);
  if (rows.length) longTable(byId(id), "", heads, rows, []);
  else byId(id).replaceChildren(element("p", { class: "note" }, "Nothing unusual was found."));
}

function drawCopies(run) {
  const rows = run.copies.map((row) => () => [cellLink(run, row.first, row.pairs), row.by, row.rate,
    row.sizes, row.protocols, row.case, row.where]);
  const heads = ["exchange", "copied by", "rate", "sizes", "protocol", "case", "device"];
  if (rows.length) longTable(byId("copies-table"), "Rate: at the largest size of each pair", heads, rows, [2]);
  else byId("copies-table").replaceChildren(element("p", { class: "note" }, "No exchange copies a plain array (case f32)."));
}

const hasProtection = (run) => run.protection.length > 0;

function drawProtection(run) {
  const all = Object.keys(run.protection[0] ?? {});
  const heads = all.filter((head) => run.protection.some((row) => row[head]));
  const rows = run.protection.map((row) => () => heads.map((head) => row[head]));
  longTable(byId("protection-table"), "Consumers by which array may be written to, where memory is shared", heads, rows, []);
}

const hasCalls = (run) => run.boundary !== null || run.calls.some((table) => table.rows.length > 0);

function drawCalls(run) {
  const tables = run.calls.filter((table) => table.rows.length > 0);
  byId("calls-command").textContent = run.boundary?.command
    ?? `dlbench check --calls --run ${run.name} && dlbench report ${run.name}`;
  const { libraries, rows: others } = run.boundary ?? { rows: [] };
  if (others.length) {
    longTable(byId("boundary-table"), `What they do with other arguments: ${libraries}`, Object.keys(others[0]),
      others.map((row) => () => Object.values(row)), []);
  } else byId("boundary-table").replaceChildren();
  byId("calls-tables").replaceChildren(...tables.map(({ title, rows }) => {
    const place = element("div", { class: "scroll" });
    const heads = Object.keys(rows[0]);
    const numbers = heads.flatMap((head, at) => (/^f\(|^an array|^bends/.test(head) ? [at] : []));
    longTable(place, title, heads, rows.map((row) => () => heads.map((head) => row[head])), numbers);
    return place;
  }));
}

const hasCases = (run) => run.fallbacks.length > 0;

function drawCases(run) {
  const rows = run.fallbacks.map((row) => () => [row.pairs, row.becomes, row.rate, row.protocols,
    row.where, row.cases]);
  longTable(byId("cases-table"), "Cases with another outcome than f32",
    ["exchange", "result", "rate", "protocol", "device", "cases"], rows, [2]);
}

function cellLink(run, cell, text) {
  const button = element("button", { type: "button" }, text);
  button.addEventListener("click", () => openCell(run, cell));
  return button;
}
