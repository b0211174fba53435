"""A remote session: what Spark Connect offers is all that is used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import shoal
from support.spark import Cluster, environment
from support.spark_cases import as_bytes, policy, table

SCRIPT = """
import json, sys, warnings
from pathlib import Path
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
from support.spark_cases import as_bytes, policy, table
import shoal
builder = SparkSession.builder.config("spark.api.mode", "connect")
for key, value in json.loads(sys.argv[2]).items():
    builder = builder.config(key, value)
session = builder.getOrCreate()
assert "connect" in type(session).__module__, type(session)
folder = Path(sys.argv[3])
for name in ("optimal", "mondrian", "greedy-clustering"):
    asked = policy({"name": name}, suppressed="star", engine={"name": "spark", "blocks": 3})
    made = shoal.anonymize(session.createDataFrame(table()), asked)
    (folder / f"{name}.bytes").write_bytes(as_bytes(made.table, folder))
made.write(folder / "release.parquet")
session.stop()
"""


def test_a_remote_session_gives_the_same_releases(cluster: Cluster, tmp_path: Path) -> None:
    script = tmp_path / "remote.py"
    script.write_text(SCRIPT)
    settings = json.dumps({**cluster.settings(), "spark.cores.max": "1"})
    command = [sys.executable, str(script), str(Path(__file__).parents[1]), settings, str(tmp_path)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr[-3000:]
    for name in ("optimal", "mondrian", "greedy-clustering"):
        ours = shoal.anonymize(table(), policy({"name": name}, suppressed="star"))
        assert (tmp_path / f"{name}.bytes").read_bytes() == as_bytes(ours.table, tmp_path)
    assert sorted((tmp_path / "release.parquet").glob("part-*"))
