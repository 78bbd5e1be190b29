"""`dlbench compare`: what changed between two sides, base and head.

A comparison is a plain dict, which `--json` prints and `results/compare.schema.json` describes:

    {"dlbench_comparison": 1,             # its schema
     "version": "0.1.0",
     "metric": "time",                    # or "instructions"
     "threshold": 0.05,                   # changes within it are none
     "false_alarms": 0.01,                # chance of any, over all cells, where nothing changed; of
                                          # a comparison in stages the part of its last analysis
     "base": SIDE, "head": SIDE,
     "counts": {"FAST": 0, "SLOW": 1, "SAME": 9, "AMBIG": 2, "INCONCLUSIVE": 3,
                "worse": 0, "better": 0, "other": 0, "gained": 0, "lost": 0},
     "minimum_detectable_change": {"least": 0.03, "median": 0.06, "most": 0.2} or None,
     "inconclusive": {"cells": 3, "of": 10,  # INCONCLUSIVE cells, of those with two numbers
                      "replicas": 23,     # which decide all but the next two; None where none
                      "unknown": 1,       # whose spread between processes is unknown
                      "undecidable": 0},  # which no number of processes decides
     "left_out": {"base": 0, "head": 0},  # cells that the other side's options did not request
     "warnings": [{"code": "no-reference", "text": "..."}],
     "cells": [CELL, ...]}                # sorted by name

    SIDE = {"runs": ["dlbench-results/..."], "environment": "" or the one that was looked at,
            "date": "...", "libraries": {"numpy": "2.4.6"}, "python": "3.11.7"}

    CELL = {"name": "exchange/producer:numpy/...",  # without the environment where a side is one
            "phase", "clock", "producer", "consumer", "protocol", "device", "case", "bytes",
            "environment", "machine",               # machine: "" but in merged documents
            "presence": "both", "gained" or "lost",
            "base_outcome", "head_outcome",         # None where it is absent
            "base", "head",                         # median in ns, or instructions; None without
            "base_workers", "head_workers",         # processes that were measured
            "ratio", "lo", "hi",                    # head over base, 95 % interval; None without
            "p",                                    # of no change, adjusted for all cells
            "spread",                               # of processes: standard deviation, relative
            "minimum_detectable_change",  # smallest change that would have been SLOW
            "verdict": "FAST", "SLOW", "SAME", "AMBIG", "INCONCLUSIVE" or None,
            "inconclusive": {"code", "replicas"} or None,  # why, and what would decide it
            "outcome_change": "worse", "better", "other" or None,
            "details": ["late read: new"]}          # what of the outcome changed, in words

`presence` is `lost` where base has the cell and head has not, or has not run it (`not-run`,
`not-installed`, `no-device`); one that was tried and not timed is there, by what was found. A cell
that neither side has is left out, and so is one that a side lacks because its options did not
request it, or that the other has as `no-protocol`. Of instructions a count that one side alone has
is lost or gained, where both timed the cell. A cell that head refuses is no lost one: its outcome
is worse.
If workers of a side measured different outcomes, the outcome is the weakest claim, and `details`
lists all: "zero-copy -> zero-copy or copy".
"""
