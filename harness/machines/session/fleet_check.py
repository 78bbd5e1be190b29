"""The check of `dlbench fleet`: a test for each job of the file in DLBENCH_FLEET_JOBS."""

import json
import os
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "checks"))

import reframe as rfm
from dlbench_matrix import DlbenchMatrix
from reframe.core.builtins import parameter, run_after, run_before
from reframe.core.runtime import runtime

JOBS = json.loads(Path(os.environ["DLBENCH_FLEET_JOBS"]).read_text(encoding="utf-8"))
#: dlbench compiles nothing: of a partition's environments one is enough.
ENVIRONMENTS = {
    each.fullname: each.environs[0].name for each in runtime().system.partitions if each.environs
}


@rfm.simple_test
class Fleet(DlbenchMatrix):
    """A job of the fleet"""

    fleet_job = parameter(sorted(JOBS))

    @run_after("init")
    def set_job(self):
        facts = JOBS[self.fleet_job]
        request = facts["request"]
        self.descr = facts["name"]
        self.valid_systems = [facts["partition"]]
        self.valid_prog_environs = [ENVIRONMENTS.get(facts["partition"], "*")]
        self.python, self.arguments = request["python"], shlex.join(request["options"])
        self.launched_by = request["prefix"]
        self.modules, self.env_vars = request["modules"], request["env"]
        self.prerun_cmds, self.resumed_from = request["setup"], facts["resumed_from"]
        self.time_limit = facts["time_limit"]
        if facts["max_pending_time"]:
            self.max_pending_time = facts["max_pending_time"]
        self.records_cells = False

    @run_before("run")
    def set_mark(self):
        # Of a run that is not collected yet: what it measures.
        mark = Path(self.stagedir, "fleet-job.json")
        mark.write_text(json.dumps(JOBS[self.fleet_job]), encoding="utf-8")
