"""`dlbench compare`: what changed between two sides, base and head.

`results/compare.schema.json` describes a comparison, which `--json` prints.

`presence` is `lost` where base has the cell and head has not, or has not run it (`not-run`,
`not-installed`, `no-device`); one that was tried and not timed is there, by what was found. A cell
that neither side has is left out, and so is one that a side lacks because its options did not
request it, or that the other has as `no-protocol`. Of instructions a count that one side alone has
is lost or gained, where both timed the cell. A cell that head refuses is no lost one: its outcome
is worse.
If workers of a side measured different outcomes, the outcome is the weakest claim, and `details`
lists all: "zero-copy -> zero-copy or copy".
"""
