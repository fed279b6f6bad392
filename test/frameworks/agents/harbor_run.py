"""Runs the command line of Harbor in a sandbox, and prints the rewards: `ADDRESS KEY TASKS JOBS AGENT`."""

import json
import os
import pathlib
import sys
from importlib.metadata import entry_points

address, os.environ["BOXKEEP_KEY"], tasks, jobs, agent = sys.argv[1:]
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # Otherwise a library asks the network for prices.
sys.argv = ["harbor", "run", "--env", "boxkeep.adapters.harbor:BoxkeepEnvironment", "--ek", f"address={address}"]
sys.argv += ["--agent", agent, "--path", tasks, "--jobs-dir", jobs, "--n-concurrent", "1", "--yes", "--quiet"]
[command] = entry_points(group="console_scripts", name="harbor")
try:
    command.load()()
except SystemExit as end:
    if end.code:
        raise
trials = [json.loads(path.read_text()) for path in pathlib.Path(jobs).glob("*/*/result.json")]
print(json.dumps({trial["task_name"]: (trial["verifier_result"] or trial["exception_info"]) for trial in trials}))
