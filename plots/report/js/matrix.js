// The matrix, as a table: producers are rows, consumers are columns, and each cell is a button.

const VIRIDIS = ["#fde725", "#b5de2b", "#6ece58", "#35b779", "#1f9e89", "#26828e", "#31688e",
  "#3e4989", "#482878", "#440154"];
const MARKED = [[2, "* copied; without it, memory is shared"], [4, "? not proven: shared or copied"],
  [16, `! ${MARK_TEXTS.loses}`], [1, `~ ${MARK_TEXTS.nearFloor}`], [8, `^ ${MARK_TEXTS.wide}`]];
const SHORT = { "no-protocol": "\u2013", "out-of-memory": "no memory", "not-installed": "absent" };
const TIMED = { call: "host time of one exchange", ready: "time of one exchange until the data is ready",
  device: "the device's own time of one exchange" };

// Phases are timed only on the clock `call`.
const timed = ({ phase, clock }) => (phase === "exchange" ? TIMED[clock] : `time of the ${phase} in one exchange`);

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function color(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const [from, to] = [channels(VIRIDIS[low]), channels(VIRIDIS[low + 1])];
  return from.map((value, i) => Math.round(value + (to[i] - value) * (place - low)));
}

// Dark or light ink, whichever has more contrast.
function inkOn(rgb, ink) {
  const linear = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > ink.dark_above ? ink.dark : ink.light;
}

function cellText(run, cell) {
  if (cell in run.below_ns) return `< ${duration(run.below_ns[cell])}`;
  if (!run.isMeasured(cell)) {
    const outcome = run.value("outcome", cell);
    return SHORT[outcome] ?? outcome;
  }
  const marks = run.marks[cell];
  return (marks & 1 ? "~" : "") + run.timeText(cell) + (marks & 2 ? "*" : marks & 4 ? "?" : "")
    + (marks & 16 ? "!" : "") + (marks & 8 ? "^" : "");
}

const RATIO = (run, cell, to) => `${number(run.median_ns[cell] / to)}x`;
// Colors of the outcomes with a number.
const OUTCOMES = { "zero-copy": "#009e73", copy: "#e69f00", "device-copy": "#d55e00", unproven: "#cc79a7" };

// A cell in one line, for hover, focus and screen readers.
function cellLabel(run, cell) {
  const pair = `${run.value("producer", cell)} to ${run.value("consumer", cell)}`;
  const outcome = run.value("outcome", cell);
  if (cell in run.below_ns) return `${pair}: ${cellText(run, cell)}, ${outcome}`;
  if (!run.isMeasured(cell)) return `${pair}: ${outcome}. ${run.reason(cell)}`.slice(0, 300);
  const marks = MARKED.slice(1).filter(([mark]) => run.marks[cell] & mark).map(([, text]) => `, ${text.slice(2)}`);
  return `${pair}: ${run.timeText(cell)}, ${outcome}${marks.join("")}; interval `
    + `${run.intervalText(cell)} (${run.value("interval", cell)})`;
}

function showLabel(event) {
  const button = event.target.closest("button[data-cell]");
  if (button !== null) byId("matrix-cell").textContent = button.getAttribute("aria-label");
}

function cellButton(run, cell, view) {
  const [producer, consumer] = [run.value("producer", cell), run.value("consumer", cell)];
  const text = view.color === "ratio" && run.isMeasured(cell) ? RATIO(run, cell, view.reference.median_ns)
    : cellText(run, cell);
  const label = cellLabel(run, cell);
  const button = element("button", { type: "button", "data-cell": String(cell), tabIndex: -1,
    "aria-label": label, title: label }, element("span", {}, text));
  if (!run.isMeasured(cell)) {
    button.className = "none";
  } else {
    const rgb = view.color === "outcome" ? channels(OUTCOMES[run.value("outcome", cell)] ?? "#8a8a8a")
      : color(Math.log(run.median_ns[cell] / view.low) / Math.log(view.high / view.low));
    button.style.backgroundColor = `rgb(${rgb.join(",")})`;
    button.style.color = inkOn(rgb, run.ink);
    if (run.marks[cell] & 1) button.classList.add("near");
  }
  if (producer === consumer) button.classList.add("own");
  return button;
}

function drawMatrix(choice) {
  const { run, shown } = choice;
  const withResult = shown.cells.filter((cell) => !run.dull.includes(run.value("outcome", cell)));
  const words = wordsOf("libraries");
  const libraries = (axis) => sorted(run, axis, withResult)
    .filter((name) => words.length === 0 || words.some((word) => name.toLowerCase().includes(word)));
  const [producers, consumers] = [libraries("producer"), libraries("consumer")];
  const measured = withResult.filter((cell) => run.isMeasured(cell));
  const times = measured.map((cell) => run.median_ns[cell]);
  const low = Math.min(...times);
  // At least a decade, so that times that differ by a few percent have nearly the same color.
  const high = Math.max(...times, 10 * low);
  const view = { color: chosen.get("color") ?? "time", low, high, reference: referenceOf(run, measured) };
  const places = new Map(shown.cells.map((cell) => (
    [`${run.value("producer", cell)}/${run.value("consumer", cell)}`, cell])));
  const versions = run.environment(shown.cells[0])?.libraries ?? {};
  const named = (name, scope) => element("th", { scope }, name,
    versions[name] ? element("small", {}, versions[name]) : null);

  const corner = element("td", { class: "corner" }, "from \u2193 to \u2192");
  const head = element("tr", {}, corner, ...consumers.map((name) => named(name, "col")));
  const body = producers.map((producer) => element("tr", {}, named(producer, "row"),
    ...consumers.map((consumer) => {
      const cell = places.get(`${producer}/${consumer}`);
      return element("td", {}, cell === undefined ? null : cellButton(run, cell, view));
    })));
  const caption = `${timed(shown.axes)}: ${choice.text()}`;
  byId("matrix-caption").textContent = times.length ? `${caption}. Select a cell for its details.`
    : `${caption}. Nothing was measured here.`;
  byId("matrix-table").replaceChildren(element("table", { class: "grid", "aria-label": caption },
    element("thead", {}, head), element("tbody", {}, ...body)));
  byId("matrix-table").querySelector("button")?.setAttribute("tabindex", "0");
  drawLegend(run, withResult, view);
  byId("matrix-cell").textContent = "";
  const present = new Set(withResult.flatMap((cell) => [run.value("producer", cell), run.value("consumer", cell)]));
  const absent = inOrder(shown.cells.flatMap((cell) => [run.value("producer", cell),
    run.value("consumer", cell)])).filter((name) => !present.has(name));
  byId("matrix-absent").textContent = absent.length ? `No result with these settings: ${absent.join(", ")}.` : "";
}

// Ratios are relative to native -> native, or to the fastest exchange if that was not measured.
function referenceOf(run, measured) {
  const isNative = (cell) => ["producer", "consumer"].every((axis) => run.value(axis, cell) === NATIVE);
  const fastest = measured.reduce((best, cell) => (best !== null && run.median_ns[best] <= run.median_ns[cell] ? best : cell), null);
  const cell = measured.find(isNative) ?? fastest;
  return cell === null ? null : { median_ns: run.median_ns[cell],
    name: `${run.value("producer", cell)} \u2192 ${run.value("consumer", cell)}` };
}

// Names in alphabetical order, native first; or by the median of their times, fastest first.
function sorted(run, axis, cells) {
  const names = inOrder(cells.map((cell) => run.value(axis, cell)));
  if (chosen.get("sort") !== "time") return names;
  const median = new Map(names.map((name) => {
    const times = cells.filter((cell) => run.isMeasured(cell) && run.value(axis, cell) === name)
      .map((cell) => run.median_ns[cell]).sort((a, b) => a - b);
    return [name, times[Math.floor(times.length / 2)] ?? Infinity];
  }));
  return names.sort((a, b) => (median.get(a) === median.get(b) ? 0 : median.get(a) - median.get(b)));
}

function drawMatrixForm(choice) {
  const form = byId("matrix-choice");
  const choose = (key, options) => picker(form, key, key, options.map((name) => [name, name]),
    chosen.get(key) ?? options[0], (value) => {
      keep({ [key]: value === options[0] ? null : value });
      drawMatrix(choice);
    });
  choose("color", ["time", "ratio", "outcome"]);
  choose("sort", ["name", "time"]);
  searchField(form, "libraries", "libraries", "numpy torch", () => drawMatrix(choice));
}

function drawLegend(run, withResult, { color, low, high, reference }) {
  const used = withResult.filter((cell) => run.isMeasured(cell)).reduce((all, cell) => all | run.marks[cell], 0);
  const place = byId("matrix-legend");
  place.replaceChildren();
  if (color === "outcome") {
    const found = new Set(withResult.filter((cell) => run.isMeasured(cell)).map((cell) => run.value("outcome", cell)));
    for (const outcome of found) {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = OUTCOMES[outcome] ?? "#8a8a8a";
      place.append(swatch, `${outcome} `);
    }
    place.append("\u00b7 ");
  } else if (reference !== null) {
    const text = (ns) => (color === "ratio" ? `${number(ns / reference.median_ns)}x` : duration(ns));
    const scale = element("span", { class: "scale" });
    scale.style.background = `linear-gradient(to right, ${VIRIDIS.join(",")})`;
    const relative = color === "ratio" ? `, relative to ${reference.name}: ${duration(reference.median_ns)}` : "";
    place.append(text(low), scale, `${text(high)}${relative} \u00b7 `);
  }
  const marks = MARKED.filter(([mark]) => used & mark).map(([, text]) => text);
  const widths = run.widths(withResult.filter((cell) => run.isMeasured(cell)));
  if (widths) marks.push(`interval ${widths}`);
  place.append(["frame: same library on both sides", ...marks].join(" \u00b7 "));
}

// The cells are one tab stop; the arrow keys move between them.
function walkMatrix(event) {
  const button = event.target.closest("button[data-cell]");
  if (button === null) return;
  const cellAt = (row, column) => row?.cells[column]?.querySelector("button");
  const place = button.parentElement;
  const row = place.parentElement;
  const rows = [...row.parentElement.rows];
  const at = rows.indexOf(row);
  const next = {
    ArrowRight: () => cellAt(row, place.cellIndex + 1),
    ArrowLeft: () => cellAt(row, place.cellIndex - 1),
    ArrowDown: () => cellAt(rows[at + 1], place.cellIndex),
    ArrowUp: () => cellAt(rows[at - 1], place.cellIndex),
    Home: () => cellAt(row, 1),
    End: () => cellAt(row, row.cells.length - 1),
  }[event.key]?.();
  if (!next) return;
  event.preventDefault();
  button.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
