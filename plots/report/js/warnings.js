// Warnings by code, each with its cells.

const hasWarnings = (run) => run.warnings.length > 0;

function drawWarnings(run) {
  const rows = run.warnings.map((row) => () => [row.code, row.text, row.pairs, warnedCells(run, row)]);
  if (rows.length) longTable(byId("warnings-table"), "", ["warning", "text of the first cell", "exchange", "cells"], rows, []);
}

function warnedCells(run, row) {
  const links = row.cells.map((cell) => cellLink(run, cell, cellName(run, cell)));
  const more = row.count - row.cells.length;
  return element("details", {}, element("summary", {}, `${row.count} ${row.count === 1 ? "cell" : "cells"}`),
    list(more > 0 ? [...links, `and ${more} more`] : links));
}

// The pair, then the levels of the axes that vary in the run.
function cellName(run, cell) {
  const varied = run.choice.filter((axis) => run.axes[axis].codes !== null);
  const pair = `${run.value("producer", cell)} \u2192 ${run.value("consumer", cell)}`;
  return [pair, ...varied.map((axis) => level(axis, run.value(axis, cell)))].join(", ");
}
