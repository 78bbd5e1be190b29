// Puts the page together.

function recolor() {
  LazyChart.all.forEach((chart) => chart.changed());
}

function showSections(run) {
  for (const [id, has] of [["protection", hasProtection(run)], ["calls", hasCalls(run)], ["phases", hasPhases(run)], ["sync", hasSync(run)],
    ["cases", hasCases(run)], ["warnings", hasWarnings(run)], ["machines", hasMachines(run)]]) {
    byId(id).hidden = !has;
    document.querySelector(`nav a[href="#${id}"]`).hidden = !has;
  }
}

async function draw() {
  prepareTheme(recolor);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { setTheme(null); recolor(); });
  const count = document.querySelectorAll('script[id^="index-"]').length;
  const runs = await Promise.all([...Array(count).keys()].map((number) => Run.load(number)));
  const charts = {};
  const redraw = (only = null) => {
    if (only === null) {
      drawMatrix(choice);
      showSections(choice.run);
      drawSummary(choice.run);
      drawFindings(choice.run);
      drawCopies(choice.run);
      drawProtection(choice.run);
      drawCalls(choice.run);
      drawCases(choice.run);
      drawWarnings(choice.run);
      drawRefusals(choice.run);
      if (hasSync(choice.run)) drawSync(choice.run);
      if (hasMachines(choice.run)) {
        drawMachinesForm(choice);
        drawMachines(choice);
      }
    }
    Object.entries(charts).forEach(([name, chart]) => (only === null || only === name) && chart.changed());
  };
  const choice = new Choice(runs, redraw);
  if (choice.shown === undefined) {
    byId("matrix-caption").textContent = "This run has no cells.";
    return;
  }
  choice.draw();
  drawMatrixForm(choice);
  drawRefusalsForm(choice);
  redraw();
  charts.scaling = new LazyChart("scaling-chart", (place) => drawScaling(choice, place));
  charts.phases = new LazyChart("phases-chart", (place) => drawPhases(choice, place));
  if (byId("change") !== null) await loadChange(runs);

  byId("matrix-table").addEventListener("keydown", walkMatrix);
  for (const kind of ["focusin", "mouseover"]) byId("matrix-table").addEventListener(kind, showLabel);
  byId("matrix-table").addEventListener("click", (event) => {
    const button = event.target.closest("button[data-cell]");
    if (button !== null) openCell(choice.run, Number(button.dataset.cell));
  });
  byId("cell").addEventListener("close", () => keep({ cell: null }));
  document.addEventListener("click", followInside);
  explainTerms();
  addEventListener("hashchange", () => location.reload());
  byId("cell").addEventListener("click", (event) => event.target === byId("cell") && byId("cell").close());
  printing();
  await openLinkedCell(runs);
}

// Pixels that fit both A4 and Letter in landscape, within style.css's margins.
const PAPER_WIDTH = 970;

// Prepares for paper, which is light and does not scroll: draws charts that were not in view.
function printing() {
  const root = document.documentElement;
  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    root.classList.add("paper");
    for (const table of document.querySelectorAll(".grid")) {
      table.style.zoom = Math.min(1, PAPER_WIDTH / table.scrollWidth);
    }
    LazyChart.all.forEach((chart) => { chart.stale = true; chart.refresh(true); });
  });
  addEventListener("afterprint", () => {
    root.classList.remove("paper");
    document.querySelectorAll(".grid").forEach((table) => { table.style.zoom = ""; });
    if (before === undefined) delete root.dataset.theme;
    else root.dataset.theme = before;
    recolor();
  });
}

// Opens the cell that the page's address names.
async function openLinkedCell(runs) {
  const name = chosen.get("cell");
  if (name === null) return;
  for (const run of [...runs].reverse()) {
    const cell = await run.named(name);
    if (cell !== null) { await openCell(run, cell); return; }
  }
}

// `ready`: milliseconds until the page was complete, for benchmarks.
draw().finally(() => { document.documentElement.dataset.ready = String(Math.round(performance.now())); });
