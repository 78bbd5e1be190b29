// Time by array size, or that of calls by the number of arrays: for one consumer a line for each
// producer, or for one producer a line for each consumer.

const scaling = { side: chosen.get("side"), name: chosen.get("library") };

const scaledAxis = (choice) => (choice.shown.axes.protocol === "call" ? "arrays" : "bytes");

// The choice's cells along that axis, on the clock `ready` if a pair has it.
function scalingLines(choice) {
  const { run, shown } = choice;
  const along = scaledAxis(choice);
  const same = run.choice.filter((axis) => !["phase", "clock", along].includes(axis));
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
    cells.sort((a, b) => run.value(along, a) - run.value(along, b));
    return { producer, consumer, cells, ready: line.ready.length > 0 };
  });
}

// The points and the line, whose segment is dashed if the larger array was copied.
function scalingMarks(run, line, library, along) {
  const own = { ...libraryStyle(run, library), name: library };
  const points = line.cells.map((cell) => ({ x: run.value(along, cell), y: run.median_ns[cell],
    low: Math.max(Math.min(run.lo_ns[cell], run.median_ns[cell]), run.median_ns[cell] / 1000),
    high: Math.max(run.hi_ns[cell], run.median_ns[cell]), isOpen: (run.marks[cell] & 2) > 0,
    text: `${library}: ${run.timeText(cell)}, ${run.value("outcome", cell)}` }));
  const part = (isCopy, dash) => ({ ...own, dash, line: points.flatMap((point, at) => (at > 0 && point.isOpen === isCopy
    ? [[points[at - 1].x, points[at - 1].y], [point.x, point.y], null] : [])) });
  return [part(false), part(true, "6 4"), { ...own, points }].filter((mark) => mark.points || mark.line.length > 0);
}

// Copy rates of the host's memory, or of this device or pair of devices.
function copyFloors(found, device) {
  return Object.entries(found.copy_floors_gb_per_s ?? {}).filter(([name]) => (
    device === "cpu" ? ["warm", "fresh"].includes(name)
      : [device, `${device} pinned`, `${device} pageable`].includes(name)));
}

function floorMarks(found, device, sizes) {
  const ends = [Math.min(...sizes), Math.max(...sizes)];
  const mark = (time, name, dash) => ({ line: ends.map((bytes) => [bytes, time(bytes)]), name, color: "var(--grey)", width: 1, dash });
  const marks = copyFloors(found, device).map(([key, gbPerSecond]) => (
    mark((bytes) => bytes / gbPerSecond, `a plain copy, ${key}: ${rate(gbPerSecond)}`, "7 3 2 3")));
  const call = found.floors_ns?.call;
  return call > 0 ? [mark(() => call, "floor: an empty call", "2 3"), ...marks] : marks;
}

function drawScaling(choice, place) {
  const { run, shown } = choice;
  const along = scaledAxis(choice);
  const bySize = along === "bytes";
  scaling.side ??= bySize ? "consumer" : "producer";
  byId("scaling-title").textContent = bySize ? "Time by array size" : "Time by number of arrays";
  const lines = scalingLines(choice);
  const steps = [...new Set(lines.flatMap((line) => line.cells.map((cell) => run.value(along, cell))))];
  const other = scaling.side === "consumer" ? "producer" : "consumer";
  const names = inOrder(lines.map((line) => line[scaling.side]));
  if (!names.includes(scaling.name)) [scaling.name] = names;
  drawScalingForm(choice, names);
  const chosen = lines.filter((line) => line[scaling.side] === scaling.name);
  const arrow = scaling.side === "consumer" ? `\u2192 ${scaling.name}` : `${scaling.name} \u2192`;
  const ready = chosen.some((line) => line.ready) ? ", until the data is ready" : "";
  const intervals = [...new Set(chosen.flatMap((line) => line.cells.map((cell) => run.value("interval", cell))))].join(" or ");
  const more = bySize ? "Only one size was measured. Measure more with dlbench --matrix --sizes 4KiB,1MiB,64MiB"
    : "Only one number of arrays was measured. Measure more with dlbench --calls --arrays 0,1,8";
  const note = steps.length < 2 ? more
    : `${arrow} \u00b7 ${level("protocol", shown.axes.protocol)} \u00b7 ${shown.axes.case}${ready}. `
      + `Dashed and hollow: copied. Bars: interval (${intervals}).`;
  byId("scaling-caption").textContent = names.length ? note : "Nothing was measured here.";
  place.hidden = steps.length < 2 || names.length === 0;
  if (place.hidden) return;
  const marks = [...chosen.flatMap((line) => scalingMarks(run, line, line[other], along)),
    ...(bySize ? floorMarks(run.environment(shown.cells[0]) ?? {}, shown.axes.device, steps) : [])];
  const times = marks.flatMap((mark) => (mark.line ?? []).filter(Boolean).map(([, ns]) => ns).concat((mark.points ?? []).flatMap(({ y, low, high }) => [y, low, high])));
  steps.sort((a, b) => a - b);
  const x = bySize ? axis("size of the array", steps, steps.map((bytes) => [bytes, size(bytes)]), true)
    : axis("arrays", steps, steps.map((arrays) => [arrays, String(arrays)]));
  drawChart(place, { height: 380, panels: [{ x,
    y: timeAxis("one exchange", times), marks }] });
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
