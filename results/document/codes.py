"""The codes that Python decides by; `_core.codes` and `_core.warnings` have them all."""

from __future__ import annotations

# of cells without a number
CONVERTED = "converted"
DELETER_TWICE = "deleter-twice"
NO_ADAPTER = "no-adapter"
NO_DEVICE_ARGUMENT = "no-device-argument"
NOT_EXPORTED = "not-exported"
NOT_IMPORTED = "not-imported"
OTHER_PROTOCOL = "other-protocol"
PROXY_REFUSED = "proxy-refused"
SOURCE_CHANGED = "source-changed"
UNTIMED = "untimed"
# of synchronization
NOT_TRIED = "not-tried"
WORKER_ENDED = "worker-ended"
# of warnings
API_CALLS_FAILED = "api-calls-failed"
FOREIGN_TYPE = "foreign-type"
MAKE_FAILED = "make-failed"
IMPORT_ORDER = "import-order"
IN_CACHE = "in-cache"
INSTRUCTIONS_FAILED = "instructions-failed"
SOURCE_WRITTEN = "source-written"
SYNC_FAILED = "sync-failed"
