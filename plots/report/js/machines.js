// Machines side by side: a row for each pair, a column for each chosen machine.

const MOST_MACHINES = 6;  // chosen at first

const hasMachines = (run) => run.levels("machine").length > 1;

function drawMachinesForm(choice) {
  const form = byId("machines-choice");
  const names = choice.run.levels("machine");
  const relative = chosen.get("relative") ?? "";
  const asked = (chosen.get("machines") ?? "").split(",").filter((name) => names.includes(name));
  const shown = new Set(asked.length > 0 ? asked : names.slice(0, MOST_MACHINES));
  const redraw = () => {
    const boxes = [...form.querySelectorAll("input:checked")].map((box) => box.value);
    keep({ machines: boxes.join(",") || null, relative: form.elements.relative.value || null });
    drawMachines(choice);
  };
  form.replaceChildren();
  picker(form, "relative", "show", [["", "times"], ...names.map((name) => [name, `ratios to ${name}`])],
    names.includes(relative) ? relative : "", redraw);
  for (const name of names) {
    const box = element("input", { type: "checkbox", value: name, checked: shown.has(name) });
    box.addEventListener("change", redraw);
    form.append(element("label", {}, box, name));
  }
}

function drawMachines(choice) {
  const { run, shown } = choice;
  const form = byId("machines-choice");
  const names = [...form.querySelectorAll("input:checked")].map((box) => box.value);
  const relative = form.elements.relative.value;
  const fixed = run.choice.filter((axis) => axis !== "machine");
  const pairs = new Map();
  for (const group of run.choices) {
    if (!fixed.every((axis) => group.axes[axis] === shown.axes[axis])) continue;
    for (const cell of group.cells) {
      const pair = `${run.value("producer", cell)} \u2192 ${run.value("consumer", cell)}`;
      if (!pairs.has(pair)) pairs.set(pair, new Map());
      pairs.get(pair).set(group.axes.machine, cell);
    }
  }
  const text = (cells, name) => {
    const cell = cells.get(name);
    if (cell === undefined) return "";
    if (!run.isMeasured(cell)) return cellLink(run, cell, run.value("outcome", cell));
    const first = cells.get(relative);
    if (relative === "") return cellLink(run, cell, run.timeText(cell));
    if (first === undefined || !run.isMeasured(first)) return "";
    return cellLink(run, cell, number(run.median_ns[cell] / run.median_ns[first]));
  };
  const rows = [...pairs].map(([pair, cells]) => () => [pair, ...names.map((name) => text(cells, name))]);
  const caption = `${relative === "" ? "Time of one exchange" : `Time relative to ${relative}`}: `
    + fixed.filter((axis) => run.levels(axis).length > 1 || axis === "bytes")
      .map((axis) => level(axis, shown.axes[axis])).join(" \u00b7 ");
  longTable(byId("machines-table"), caption, ["exchange", ...names], rows, names.map((_, i) => i + 1));
}
