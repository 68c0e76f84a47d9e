#!/bin/bash
# device.sh IN OUT: all trainings on one accelerator, some ten minutes of one H100. What is done is copied
# to $OUT after every job, a job that stopped goes on, one that is done is not repeated.
# IN holds what pack.py wrote; its large files may come in several parts, NAME.npz.1, NAME.npz.2, …
set -u
HERE=$(dirname "$0"); IN=$1; WORK=$2; mkdir -p "$WORK"; export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=4
for first in "$IN"/*.npz.1; do [ -e "$first" ] && cat "${first%.1}".[0-9] > "${first%.1}"; done

keep() { cp "$WORK"/*.json "$WORK"/f.weights.*.npz "$WORK"/d0.weights.*.npz "$OUT"/ 2> /dev/null; python3 - "$WORK" "$OUT" <<'P'
import json, sys
from pathlib import Path
import numpy as np
work, out = map(Path, sys.argv[1:])
reports = {p.stem: json.loads(p.read_text()) for p in sorted(work.glob("*.json"))}
(out / "reports.json").write_text(json.dumps(reports))
for name in reports: (out / f"{name}.json").unlink(missing_ok=True)
seen = {f"{n}.{k}": v for n in reports if (work / f"{n}.npz").exists() for k, v in np.load(work / f"{n}.npz").items()}
np.savez_compressed(out / "seen.npz", **seen)
if (out / "f.weights.0.npz").exists():  # at most eight files come back
    for p in out.glob("d0.weights.*"): p.unlink()
P
}
run() { for name in "$@"; do [ -e "$WORK/$name.json" ] || python3 "$HERE/train.py" "$IN" "$WORK" "$(python3 "$HERE/plan.py" "$name")"; done; }

run t1; keep
run d0; keep
run f f0 > "$WORK/1.log" 2>&1 & run f1 f2 > "$WORK/2.log" 2>&1 & run f3 f4 > "$WORK/3.log" 2>&1 & wait
keep
run c4 c2 c1; keep
cat "$WORK"/?.log; ls -la "$OUT"
