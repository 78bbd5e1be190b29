// What every page has: the charts, and the filter of a matrix.

// A history: the lowest rounds of a cell by version, with a line where it changed.
const CERTAIN = ["outcome", "protocol", "code"];

// Only times of one run are joined.
function joined(points) {
  return points.flatMap(([i, ns, , , , run], at) => [
    ...(at > 0 && points[at - 1][5] !== run ? [null] : []), ns === null ? null : [i, ns]]);
}

function drawHistory(place, { labels, points, steps }) {
  const timed = points.filter(([, ns]) => ns !== null);
  const times = timed.flatMap(([, , low, high]) => [low, high]);
  const y = timeAxis("lowest time", [Math.min(...times) / 1.3, Math.max(...times) * 1.3]);
  const color = "var(--link)";
  const lines = steps.map(([at, kind]) => ({ name: `${kind}`, line: [[at - 0.5, y.low], [at - 0.5, y.high]],
    color: CERTAIN.includes(kind) ? "var(--bad)" : "var(--grey)", dash: "4 3", width: 1.5 }));
  const x = { title: "", ticks: labels.map((text, i) => [i, text]), low: -0.6, high: labels.length - 0.4 };
  drawChart(place, { height: 200, panels: [{ x, y, marks: [...lines,
    { line: joined(points), color },
    { points: timed.map(([i, ns, low, high, text]) => ({ x: i, y: ns, low, high, text })), color, marker: "o" }] }] });
}

function drawHistories() {
  for (const place of document.querySelectorAll("[data-chart]")) {
    const data = JSON.parse(place.dataset.chart);
    let width = 0;
    new ResizeObserver(() => {
      if (place.clientWidth !== width) {
        width = place.clientWidth;
        drawHistory(place, data);
      }
    }).observe(place);
  }
}

// The filter of the matrix, kept in the address after `#`. Without a `=` it is an anchor.
function filterMatrix() {
  const [form, table] = [byId("filter"), byId("matrix")];
  if (form === null) return;
  form.hidden = false;
  const fields = ["libraries", "state", "sort"];
  const rows = [...table.tBodies[0].rows];
  const apply = () => {
    const words = form.elements.libraries.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const state = form.elements.state.value;
    const isNamed = (element) => words.length === 0 || words.some((word) => element.dataset.name.toLowerCase().includes(word));
    const heads = [...table.tHead.rows[0].cells].slice(1);
    const columns = heads.map(isNamed);
    const hasAny = new Array(heads.length).fill(false);
    let shown = 0;
    for (const row of rows) {
      const isRow = isNamed(row);
      let has = false;
      [...row.cells].slice(1).forEach((cell, i) => {
        const fits = state === "" || cell.className === state;
        cell.classList.toggle("dim", !fits);
        if (fits && isRow && columns[i]) { has = true; hasAny[i] = true; }
      });
      row.hidden = !isRow || !has;
      shown += row.hidden ? 0 : 1;
    }
    heads.forEach((head, i) => { head.hidden = !columns[i] || !hasAny[i]; });
    rows.forEach((row) => heads.forEach((head, i) => { row.cells[i + 1].hidden = head.hidden; }));
    const orders = { cost: (row) => Number(row.dataset.cost) || Infinity, date: (row) => row.dataset.date, "": (row) => row.dataset.name };
    const key = orders[form.elements.sort.value] ?? orders[""];
    const sorted = [...rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
    if (form.elements.sort.value === "date") sorted.reverse();
    table.tBodies[0].append(...sorted);
    byId("none").textContent = shown ? "" : "No pair fits this filter.";
  };
  const read = () => {
    const text = location.hash.slice(1);
    const chosen = new URLSearchParams(text.includes("=") ? text : "");
    for (const name of fields) form.elements[name].value = chosen.get(name) ?? "";
    apply();
  };
  const keep = () => {
    const chosen = new URLSearchParams();
    for (const name of fields) if (form.elements[name].value) chosen.set(name, form.elements[name].value);
    history.replaceState(null, "", String(chosen) ? `#${chosen}` : location.pathname + location.search);
    apply();
  };
  form.addEventListener("input", keep);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", read);
  read();
}

// Arrow keys move between the cells of a matrix.
function walk(event) {
  const cell = event.target.closest(".matrix td, .matrix th");
  const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
  if (cell === null || (!down && !right)) return;
  const rows = [...cell.closest("table").rows].filter((row) => !row.hidden);
  let [row, column] = [rows.indexOf(cell.parentElement), cell.cellIndex];
  for (;;) {
    [row, column] = [row + down, column + right];
    const next = rows[row]?.cells[column];
    if (next === undefined) return;
    const link = next.hidden ? null : next.querySelector("a");
    if (link !== null) {
      event.preventDefault();
      link.focus();
      return;
    }
  }
}
