"""The results document, typed: read and checked once, then passed on as records.

`files` finds and reads it, `document` holds its entries, `entry` is one cell, `context` the run as
a whole, `comparison` what changed between two runs. Code that presents results imports only these.
"""

from __future__ import annotations

from dlbench.document.comparison import ComparedCell, Comparison
from dlbench.document.context import (
    MACHINE_NAME,
    Context,
    EnvironmentFacts,
    Machine,
    Request,
    Run,
)
from dlbench.document.document import (
    Document,
    environment_rank,
    exchanges_once,
    on_machine,
    parse_document,
)
from dlbench.document.entry import (
    AXES,
    EXCHANGE,
    Axis,
    Capture,
    Entry,
    Measured,
    NotMeasured,
    Pair,
    Sync,
)
from dlbench.document.files import (
    DOCUMENT,
    JOURNAL,
    LATEST,
    RESULTS,
    as_document,
    boundary_path,
    locate,
    read_boundary,
    read_comparison,
    read_document,
)
from dlbench.document.keys import Check, CodedWarning
