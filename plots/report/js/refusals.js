// Cells without a number: a row for each reason.

function drawRefusals(run) {
  const found = run.refusals.filter((row) => wordsOf("words")
    .every((word) => Object.values(row).join(" ").toLowerCase().includes(word)));
  const rows = found.map((row) => () => {
    const name = element("button", { type: "button" }, row.pairs);
    name.addEventListener("click", () => openCell(run, row.first));
    return [name, row.outcome, row.protocol, row.device, String(row.cells), row.reason];
  });
  const { counts, lines } = run.folded;
  byId("refusals-folded").replaceChildren(...(counts || lines.length ? [element("details", {},
    element("summary", {}, `No common protocol or device: ${counts || lines.length}`), list(lines))] : []));
  if (found.length === 0) {
    byId("refusals-table").replaceChildren(element("p", { class: "note" }, "None."));
    return;
  }
  const caption = `${found.length} reasons`;
  longTable(byId("refusals-table"), caption, ["exchange", "outcome", "protocol", "device", "cells", "reason"],
    rows, [4]);
}

function drawRefusalsForm(choice) {
  searchField(byId("refusals-choice"), "words", "filter", "torch refused", () => drawRefusals(choice.run));
}
