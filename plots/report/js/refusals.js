// Cells without a number that share a reason, a row each.

const refusals = { words: "" };

function drawRefusals(run) {
  const found = run.refusals.filter((row) => refusals.words.toLowerCase().split(/\s+/)
    .every((word) => Object.values(row).join(" ").toLowerCase().includes(word)));
  const rows = found.map((row) => () => {
    const name = element("button", { type: "button" }, row.pairs);
    name.addEventListener("click", () => openCell(run, row.first));
    return [name, row.outcome, row.protocol, row.device, String(row.cells), row.reason];
  });
  const caption = found.length ? `${found.length} reasons` : "None.";
  longTable(byId("refusals-table"), caption, ["exchange", "outcome", "protocol", "device", "cells", "reason"],
    rows, [4]);
}

function drawRefusalsForm(choice) {
  const input = element("input", { type: "search", name: "words", placeholder: "torch refused" });
  input.addEventListener("input", () => {
    refusals.words = input.value.trim();
    drawRefusals(choice.run);
  });
  const form = byId("refusals-choice");
  form.replaceChildren(element("label", {}, "with the words", input));
  form.addEventListener("submit", (event) => event.preventDefault());
}
