// Time by array size: for one consumer a line for each producer, or for one producer a line for
// each consumer.

const scaling = { side: chosen.get("side") ?? "consumer", name: chosen.get("library") };

// The choice's cells at every size, on the clock `ready` if a pair has it.
function scalingLines(choice) {
  const { run, shown } = choice;
  const same = ["protocol", "device", "case", "environment", "machine"];
  const lines = new Map();
  for (const one of run.choices) {
    const { phase, clock } = one.axes;
    if (phase !== "exchange" || clock === "device") continue;
    if (!same.every((axis) => one.axes[axis] === shown.axes[axis])) continue;
    for (const cell of one.cells) {
      if (!run.isMeasured(cell)) continue;
      const key = `${run.value("producer", cell)}/${run.value("consumer", cell)}`;
      const line = lines.get(key) ?? { call: [], ready: [] };
      line[clock].push(cell);
      lines.set(key, line);
    }
  }
  return [...lines].map(([key, line]) => {
    const [producer, consumer] = key.split("/");
    const cells = line.ready.length ? line.ready : line.call;
    cells.sort((a, b) => run.value("bytes", a) - run.value("bytes", b));
    return { producer, consumer, cells, ready: line.ready.length > 0 };
  });
}

// The marks and the line, whose segment is dashed if the larger array was copied.
function scalingTraces(run, line, library) {
  const { color, symbol } = libraryStyle(run, library);
  const name = chartText(library);
  const copied = line.cells.map((cell) => (run.marks[cell] & 2) > 0);
  const times = line.cells.map((cell) => run.median_ns[cell]);
  const sizes = line.cells.map((cell) => run.value("bytes", cell));
  const own = { name, legendgroup: name, type: "scatter" };
  const part = (isCopy, dash) => {
    const ends = copied.flatMap((is, at) => (at > 0 && is === isCopy ? [at - 1, at, null] : []));
    const along = (values) => ends.map((at) => (at === null ? null : values[at]));
    return { ...own, x: along(sizes), y: along(times), mode: "lines", line: { color, dash, width: 1.8 },
      showlegend: false, hoverinfo: "skip" };
  };
  const marks = { ...own, x: sizes, y: times, mode: "markers",
    marker: { color, size: 8, symbol: copied.map((is) => (is ? `${symbol}-open` : symbol)) },
    error_y: { type: "data", symmetric: false, thickness: 1, width: 3, color,
      array: line.cells.map((cell, at) => Math.max(run.hi_ns[cell] - times[at], 0)),
      arrayminus: line.cells.map((cell, at) => Math.min(Math.max(times[at] - run.lo_ns[cell], 0), times[at] * 0.999)) },
    text: line.cells.map((cell) => `${run.timeText(cell)}, ${run.value("outcome", cell)}`),
    hovertemplate: `${name}: %{text}<extra></extra>` };
  return [part(false, "solid"), part(true, "dash"), marks];
}

// Copy rates of the host's memory, or of this device or pair of devices.
function copyFloors(found, device) {
  return Object.entries(found.copy_floors_gb_per_s ?? {}).filter(([name]) => (
    device === "cpu" ? ["warm", "fresh"].includes(name)
      : [device, `${device} pinned`, `${device} pageable`].includes(name)));
}

function floorTraces(found, device, sizes) {
  const ends = [Math.min(...sizes), Math.max(...sizes)];
  const line = (y, name, dash) => ({ x: ends, y, name, mode: "lines", type: "scatter",
    line: { color: styled("--grey"), width: 1, dash }, hoverinfo: "name" });
  const traces = [];
  const call = found.floors_ns?.call;
  if (call > 0) traces.push(line([call, call], "floor: an empty call", "dot"));
  for (const [key, gbPerSecond] of copyFloors(found, device)) {
    traces.push(line(ends.map((bytes) => bytes / gbPerSecond), `a plain copy, ${chartText(key)}: ${rate(gbPerSecond)}`, "dashdot"));
  }
  return traces;
}

function drawScaling(choice, place) {
  const { run, shown } = choice;
  const lines = scalingLines(choice);
  const sizes = [...new Set(lines.flatMap((line) => line.cells.map((cell) => run.value("bytes", cell))))];
  const other = scaling.side === "consumer" ? "producer" : "consumer";
  const names = inOrder(lines.map((line) => line[scaling.side]));
  if (!names.includes(scaling.name)) [scaling.name] = names;
  drawScalingForm(choice, names);
  const chosen = lines.filter((line) => line[scaling.side] === scaling.name);
  const arrow = scaling.side === "consumer" ? `\u2192 ${scaling.name}` : `${scaling.name} \u2192`;
  const ready = chosen.some((line) => line.ready) ? ", until the data is ready" : "";
  const intervals = [...new Set(chosen.flatMap((line) => line.cells.map((cell) => run.value("interval", cell))))].join(" or ");
  const note = sizes.length < 2 ? "Only one size was measured. Measure more with dlbench --matrix --sizes 4KiB,1MiB,64MiB"
    : `${arrow} \u00b7 ${level("protocol", shown.axes.protocol)} \u00b7 ${shown.axes.case}${ready}. `
      + `Dashed and hollow: copied. Bars: interval (${intervals}).`;
  byId("scaling-caption").textContent = names.length ? note : "Nothing was measured here.";
  place.hidden = sizes.length < 2 || names.length === 0;
  if (place.hidden) return null;
  const traces = [...chosen.flatMap((line) => scalingTraces(run, line, line[other])),
    ...floorTraces(run.environment(shown.cells[0]) ?? {}, shown.axes.device, sizes)];
  sizes.sort((a, b) => a - b);
  return drawChart(place, traces, { height: 430, legend: { tracegroupgap: 0, orientation: innerWidth < 700 ? "h" : "v",
    y: innerWidth < 700 ? -0.25 : 1 },
  xaxis: axis("size of the array", { type: "log", tickvals: sizes, ticktext: sizes.map(size) }),
  yaxis: timeAxis("one exchange", traces.flatMap((trace) => trace.y.filter((ns) => ns !== null))) });
}

function drawScalingForm(choice, names) {
  const form = byId("scaling-choice");
  const focus = form.contains(document.activeElement) ? document.activeElement.name : null;
  form.replaceChildren();
  if (names.length === 0) return;
  const again = () => {
    keep({ side: scaling.side, library: scaling.name });
    choice.redraw("scaling");
  };
  picker(form, "side", "lines for one", [["consumer", "consumer"], ["producer", "producer"]], scaling.side,
    (value) => { scaling.side = value; again(); });
  picker(form, "name", "library", names.map((name) => [name, name]), scaling.name,
    (value) => { scaling.name = value; again(); });
  if (focus) form.elements[focus]?.focus();
}
