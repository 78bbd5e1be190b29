"""A ReFrame check that runs `dlbench --matrix` alone on a node.

    reframe -C SITE.py -c "$(dlbench --reframe-checks)" -r -S arguments="--sizes 4KiB,1MiB"

Options of ReFrame set its variables with -S, and make several tests of one with -P. Each test
leaves the folder `run` in its output folder; `dlbench merge` makes one document of several.
ReFrame alone is imported here: its interpreter may lack dlbench.
"""

import json
import shlex
import shutil
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import run_after, run_before, sanity_function, variable
from reframe.core.runtime import runtime

# A machine is measured alone. ReFrame runs up to eight local jobs at a time, unless the site's
# configuration sets another number; measure_alone() limits it to one.
runtime().site_config.add_sticky_option("systems/max_local_jobs", 1)


@rfm.simple_test
class DlbenchMatrix(rfm.RunOnlyRegressionTest):
    """dlbench --matrix"""

    #: The Python on the node that has dlbench.
    python = variable(str, value="python3")
    #: Options of `dlbench --matrix`, as in a shell.
    arguments = variable(str, value="")
    #: Words before the Python: taskset, numactl, a container.
    launched_by = variable(typ.List[str], value=[])
    #: A run folder with the same arguments that did not end; empty to begin a run.
    resumed_from = variable(str, value="")
    #: Whether ReFrame records the time of each cell.
    records_cells = variable(bool, value=True)

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    num_tasks = 1
    exclusive_access = True
    keep_files = ["run"]

    @run_after("setup")
    def measure_alone(self):
        # After the setup: before it, this would replace the partition's launcher.
        if self.current_partition.scheduler.is_local:
            self.local = True

    @run_before("run")
    def set_command(self):
        dlbench = [*self.launched_by, self.python, "-m", "dlbench"]
        words = [*dlbench, "--matrix", *shlex.split(self.arguments)]
        words += ["--out", "run", "--no-plots"]
        if self.resumed_from:
            shutil.copytree(self.resumed_from, Path(self.stagedir, "run"))
            # The command names the code that it runs, whatever the journal says.
            named = [
                word
                for before, word in zip(["", *words], words, strict=False)
                if {before, word.partition("=")[0]} & {"--env", "--adapters"}
            ]
            resume = shlex.join([*dlbench, "--resume", "run", "--no-plots", *named])
            # 2: this run cannot be continued here, for example with another version of a library.
            anew = f"rm -rf run; exec {shlex.join(words)}"
            words = ["sh", "-c", f"{resume}; s=$?; [ $s = 2 ] || exit $s; {anew}"]
        if self.current_partition.scheduler.registered_name == "ssh":
            # It has no time limit, and copies nothing back from a job that failed.
            words = ["timeout", str(self.time_limit), *words] if self.time_limit else words
            self.postrun_cmds = [*self.postrun_cmds, "true"]
        self.executable, *self.executable_opts = map(shlex.quote, words)

    @sanity_function
    def has_a_document(self):
        return sn.assert_true(_measured(Path(self.stagedir)), "run/results.json has no number")

    @run_before("performance")
    def set_cells(self):
        if not self.records_cells:
            return
        for entry in _measured(Path(self.stagedir)):
            # A colon separates system, partition and name in ReFrame.
            name = entry["name"].replace(":", "=")
            self.perf_variables[name] = sn.make_performance_function(
                sn.defer(entry["real_time"]), "ns"
            )


def _measured(stage):
    """The cells with a number. Raises OSError or ValueError for what is no document."""
    place = stage / "run" / "results.json"
    if not place.is_file():  # opening a FIFO would block
        raise OSError(f"{place} is not a file")
    return json.loads(place.read_text(encoding="utf-8"))["benchmarks"]
