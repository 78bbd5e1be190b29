"""`dlbench compare`: what changed between two sides, base and head.

`results/compare.schema.json` describes a comparison, which `--json` prints.

`presence` is `lost` if base has the cell and head does not have it or did not run it (`not-run`,
`not-installed`, `no-device`). A cell that was tried and not timed is present, with the outcome that
was found. A cell that head refuses is not lost: its outcome is worse. Left out are cells that
neither side has, that one side's options did not request, or that one side lacks and the other has
as `no-protocol`. A count of instructions on one side alone is lost or gained if both timed the
cell. If workers of a side measured different outcomes, the outcome is the weakest claim, and
`details` lists all: "zero-copy -> zero-copy or copy".
"""
