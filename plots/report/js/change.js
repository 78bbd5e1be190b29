// The changes between two sides: a chart of the ratios with their intervals, and a table of all
// cells.

const MOST_RATIOS = 50;
const FEWEST_ROWS = 20;
const UNCHANGED = ["SAME", "AMBIG", "INCONCLUSIVE", ""];
const RESULTS = { worse: ["#b2182b", "X"], other: ["#cc79a7", "*"], better: ["#009e73", "P"], SLOW: ["#d55e00", ">"],
  FAST: ["#009e73", "<"], AMBIG: ["#8a8a8a", "D", true], INCONCLUSIVE: ["#b07c00", "s", true], SAME: ["#56b4e9", "o", true] };

// Counts have no noise, so no interval and no minimum detectable change.
const isTimed = (change) => change.metric === "time";

function changeText(change) {
  const side = (one) => (one.runs ?? []).concat(one.environment || []).join(" ");
  const within = `A cell is SAME if its change is surely below ${percent(change.threshold)}`;
  const see = isTimed(change) ? change.minimum_detectable_change : null;
  const detectable = see ? `; minimum detectable change: ${percent(see.median)} (median cell), `
    + `${percent(see.least)} to ${percent(see.most)} over all` : "";
  const open = change.undecided ? ` ${change.undecided}.` : "";
  const counted = isTimed(change) ? "" : `, ${change.metric} counted`;
  return [`${side(change.base)} against ${side(change.head)}${counted}: ${change.counted}. ${within}${detectable}.${open}`,
    ...(change.warnings ?? []).map((warning) => warning.text)].join(" ");
}

// Three decimals, unless the ratio is far from 1.
function ratioText(ratio) {
  return ratio >= 0.01 && ratio < 100 ? ratio.toFixed(3) : ratio.toPrecision(2).replace("e+", "e");
}

function changeRow(change, cell, runs) {
  const amount = isTimed(change) ? duration : (value) => value.toLocaleString("en");
  const shown = (value) => (value === null ? "" : amount(value));
  const kind = ["worse", "lost", "SLOW"].includes(cell.result) ? "worse"
    : ["better", "FAST"].includes(cell.result) ? "better" : "";
  const name = element("button", { type: "button" }, cell.label);
  name.addEventListener("click", async () => {
    for (const run of [...runs].reverse()) {
      const found = await run.named(cell.name);
      if (found !== null) { await openCell(run, found); return; }
    }
  });
  const interval = cell.lo === null || cell.hi === null ? "" : `${ratioText(cell.lo)} .. ${ratioText(cell.hi)}`;
  const marked = (text) => (text === "" ? "" : element("span", { class: kind }, text));
  return [name, marked(cell.result), marked(cell.outcomes), cell.speed, cell.ratio === null ? "" : ratioText(cell.ratio), ...(isTimed(change) ? [interval] : []),
    shown(cell.base), shown(cell.head)];
}

// Ticks labeled as changes in percent, as many as fit.
function ratioTicks(cells) {
  const ends = cells.flatMap((cell) => [cell.lo ?? cell.ratio, cell.hi ?? cell.ratio]);
  const far = Math.max(...ends.filter((end) => end > 0).map((end) => Math.abs(Math.log(end))), Math.log(1.05));
  const steps = [1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 5, 10, 100, 1e3, 1e4, 1e6, 1e9]
    .filter((step) => Math.log(step) <= far * 1.1 && Math.log(step) >= far / 8);
  const ticks = [...steps.map((step) => 1 / step).reverse(), 1, ...steps];
  return ticks.map((tick) => [tick, tick === 1 ? "same"
    : tick >= 10 ? `${tick}x` : `${tick > 1 ? "+" : ""}${Math.round((tick - 1) * 100)} %`]);
}

function drawRatios(change, place) {
  const shown = change.cells.filter((cell) => cell.ratio !== null).slice(0, MOST_RATIOS);
  place.hidden = shown.length === 0;
  if (place.hidden) return;
  const points = (result) => shown.flatMap(({ ratio, lo, hi, ...cell }, y) => (cell.result !== result ? []
    : [{ x: ratio, y, text: percent(ratio - 1), ...(isTimed(change) ? { low: lo ?? ratio, high: hi ?? ratio } : {}) }]));
  const marks = Object.entries(RESULTS).map(([name, [color, marker, isOpen]]) => ({ name, color, marker, isOpen, points: points(name) }))
    .filter((mark) => mark.points.length > 0);
  const same = { band: [1 / (1 + change.threshold), 1 + change.threshold], color: "var(--line)", opacity: 0.4 };
  const one = { line: [[1, -0.5], [1, shown.length - 0.5]], color: "var(--ink)", width: 1 };
  const ends = [...same.band, ...shown.flatMap((cell) => [cell.lo ?? cell.ratio, cell.hi ?? cell.ratio])].filter((end) => end > 0);
  drawChart(place, { height: ROW * shown.length, panels: [{ x: axis(`${change.metric}, head / base`, ends, ratioTicks(shown), true),
    y: rowsAxis(shown.map((cell) => cell.label)), marks: [same, one, ...marks] }] });
}

async function loadChange(runs) {
  const change = await unpackJson("change-data");
  change.cells = change.rows.map((row) => Object.fromEntries(change.keys.map((key, i) => [key, row[i]])));
  byId("change-caption").textContent = changeText(change);
  const interval = isTimed(change) ? ["95 % interval"] : [];
  const changed = change.cells.filter((cell) => !UNCHANGED.includes(cell.result)).length;
  const head = ["cell", "verdict", "outcome", "speed", "ratio", ...interval, "base", "head"];
  longTable(byId("change-table"), `${change.cells.length} cells, changed ones first`, head,
    change.cells.map((cell) => () => changeRow(change, cell, runs)), [4, 5, 6, ...interval.map(() => 7)],
    Math.min(100, Math.max(FEWEST_ROWS, changed)));
  return new LazyChart("change-chart", (place) => drawRatios(change, place));
}
