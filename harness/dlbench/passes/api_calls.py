"""`--trace-api`: counts the calls of the CUDA driver in an exchange, by a worker for each pair."""

from __future__ import annotations

from dlbench import _core, worker_requests
from dlbench.document import Document, Entry, Measured, codes
from dlbench.passes.walk import Pass, by_pair, has_result, pair_title
from dlbench.supervisor import RequestFailed, Worker

#: Of one cell: its name, calls by kind, and by phase where it was split; or why there are none.
Result = tuple[str, dict[str, int] | None, dict[str, dict[str, int]], str]


class TraceApiCalls(Pass[Entry, Result]):
    """The pass over the measured exchanges on the clock `call`."""

    name = "api"

    def pending(self, document: Document) -> list[list[Entry]]:
        return by_pair(
            entry
            for entry in document.entries
            if isinstance(entry, Measured)
            and entry.is_exchange
            and entry.clock == "call"
            and not has_result(entry, "api_calls", codes.API_CALLS_FAILED)
        )

    def entry(self, item: Entry) -> Entry:
        return item

    def title(self, item: Entry) -> str:
        return f"tracing {pair_title(item)}"

    def send_request(self, worker: Worker, item: Entry) -> Result:
        name = item.name
        _, answer = worker.request_prepared(
            item, {**worker_requests.prepare(item), "do": "api_calls"}
        )
        if "why_not" in answer:
            return name, None, {}, str(answer["why_not"])
        return name, answer["calls"], answer["phases"], ""

    def fail(self, item: Entry, failure: RequestFailed) -> Result:
        return item.name, None, {}, str(failure)

    def record(self, result: Result) -> None:
        _core.append_api_calls(str(self.folder), [result])
