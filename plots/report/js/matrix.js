// The matrix: producers down, consumers across. A real table, each cell a button with its number.

const VIRIDIS = ["#fde725", "#b5de2b", "#6ece58", "#35b779", "#1f9e89", "#26828e", "#31688e",
  "#3e4989", "#482878", "#440154"];
const MARKED = [[2, "* copied; without it, memory is shared"], [4, "? not proven whether copied"],
  [1, "~ within 2x of the instrument's own time"]];
const SHORT = { "no-protocol": "\u2013", "out-of-memory": "no memory", "not-installed": "absent" };
const TIMED = { call: "host time of one exchange", ready: "time of one exchange until the data is there",
  device: "the device's own time of one exchange" };

// A phase is timed on the clock `call` only.
const timed = ({ phase, clock }) => (phase === "exchange" ? TIMED[clock] : `time of the ${phase} in one exchange`);

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function colour(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const [from, to] = [channels(VIRIDIS[low]), channels(VIRIDIS[low + 1])];
  return from.map((value, i) => Math.round(value + (to[i] - value) * (place - low)));
}

// Dark or light ink, whichever stands out more.
function inkOn(rgb, ink) {
  const linear = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > ink.dark_above ? ink.dark : ink.light;
}

function cellText(run, cell) {
  if (cell in run.below) return `< ${duration(run.below[cell])}`;
  if (!run.isMeasured(cell)) {
    const outcome = run.value("outcome", cell);
    return SHORT[outcome] ?? outcome;
  }
  const marks = run.marks[cell];
  return (marks & 1 ? "~" : "") + duration(run.time[cell]) + (marks & 2 ? "*" : marks & 4 ? "?" : "");
}

function cellButton(run, cell, share) {
  const [producer, consumer] = [run.value("producer", cell), run.value("consumer", cell)];
  const text = cellText(run, cell);
  const outcome = run.value("outcome", cell);
  const said = run.isMeasured(cell) ? `${duration(run.time[cell])}, ${outcome}`
    : cell in run.below ? `${text}, ${outcome}` : outcome;
  const button = element("button", { type: "button", "data-cell": String(cell), tabIndex: -1,
    "aria-label": `${producer} to ${consumer}: ${said}` }, element("span", {}, text));
  if (!run.isMeasured(cell)) {
    button.className = "none";
  } else {
    const rgb = colour(share);
    button.style.backgroundColor = `rgb(${rgb.join(",")})`;
    button.style.color = inkOn(rgb, run.ink);
    if (run.marks[cell] & 1) button.classList.add("near");
  }
  if (producer === consumer) button.classList.add("own");
  return button;
}

function drawMatrix(choice) {
  const { run, shown } = choice;
  const telling = shown.cells.filter((cell) => !run.dull.includes(run.value("outcome", cell)));
  const producers = inOrder(telling.map((cell) => run.value("producer", cell)));
  const consumers = inOrder(telling.map((cell) => run.value("consumer", cell)));
  const times = telling.filter((cell) => run.isMeasured(cell)).map((cell) => run.time[cell]);
  const [low, high] = [Math.min(...times), Math.max(...times)];
  const share = (cell) => (high > low ? Math.log(run.time[cell] / low) / Math.log(high / low) : 0);
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
      return element("td", {}, cell === undefined ? null : cellButton(run, cell, share(cell)));
    })));
  const caption = `${timed(shown.axes)}: ${choice.said()}`;
  byId("matrix-said").textContent = times.length ? `${caption}. Choose a cell for all that is known of it.`
    : `${caption}. Nothing was measured here.`;
  byId("matrix-table").replaceChildren(element("table", { class: "grid", "aria-label": caption },
    element("thead", {}, head), element("tbody", {}, ...body)));
  byId("matrix-table").querySelector("button")?.setAttribute("tabindex", "0");
  drawLegend(run, telling, low, high);
  const present = new Set([...producers, ...consumers]);
  const absent = inOrder(shown.cells.flatMap((cell) => [run.value("producer", cell),
    run.value("consumer", cell)])).filter((name) => !present.has(name));
  byId("matrix-absent").textContent = absent.length ? `Nothing to say here: ${absent.join(", ")}.` : "";
}

function drawLegend(run, telling, low, high) {
  const used = telling.filter((cell) => run.isMeasured(cell)).reduce((all, cell) => all | run.marks[cell], 0);
  const place = byId("matrix-legend");
  place.replaceChildren();
  if (high > low) {
    const scale = element("span", { class: "scale" });
    scale.style.background = `linear-gradient(to right, ${VIRIDIS.join(",")})`;
    place.append(duration(low), scale, `${duration(high)} \u00b7 `);
  }
  const told = MARKED.filter(([mark]) => used & mark).map(([, text]) => text);
  place.append(["framed: a library to itself", ...told].join(" \u00b7 "));
}

// One stop for the tabulator; the arrows go on from there.
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
