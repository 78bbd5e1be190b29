// Synchronization: a row for each cell and stream argument.

const hasSync = (run) => Object.keys(run.sync).length > 0;

function drawSync(run) {
  const share = (value) => (typeof value === "number" ? percent(value) : "");
  const time = (value) => (typeof value === "number" ? duration(value) : "");
  const axes = ["protocol", "device", ...["environment", "machine"].filter((axis) => run.levels(axis).length > 1)];
  const rows = Object.entries(run.sync).flatMap(([place, variants]) => variants.map((one) => () => {
    const cell = Number(place);
    const pair = `${run.value("producer", cell)} \u2192 ${run.value("consumer", cell)}`;
    const name = element("button", { type: "button" },
      [pair, ...axes.map((axis) => run.value(axis, cell))].join(" "));
    name.addEventListener("click", () => openCell(run, cell));
    const stream = one.stream === null ? "None" : String(one.stream);
    return [name, one.requested_by === "dlbench" ? `(${stream})` : stream, one.reads_on,
      element("strong", {}, one.waits ?? one.code), one.expected ?? "",
      one.content ?? one.reason ?? "", time(one.transfer_ns), share(one.export_blocked), share(one.import_blocked), time(one.gap_ns)];
  }));
  longTable(byId("sync-table"), "export held, import held: share of a known delay for which the call blocked the host. (stream): dlbench passed it, not the consumer. text: what the protocol demands", ["exchange", "stream",
    "read on", "waits", "text", "data read", "transfer", "export held", "import held", "gap on the device"], rows, [6, 7, 8, 9]);
}
