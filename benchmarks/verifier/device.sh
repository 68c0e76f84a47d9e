#!/bin/bash
# device.sh IN WORK [JOB…]: trainings on one accelerator, all of them some ten minutes of one H100.
#
# IN holds what pack.py wrote; a large file may come in parts, NAME.npz.1, NAME.npz.2, …, which earlier
# calls brought. After every job all that is worth having is copied to $OUT: eight files of 16 MB at
# most. A job that stopped goes on where it was, one that is done is not repeated. Where the teacher's
# labels of another machine (t1.all.npz) lie in IN, they are taken.
set -u
HERE=$(dirname "$0"); IN=$1; WORK=$2; shift 2; mkdir -p "$WORK" "$OUT"
export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=4

for first in "$IN"/*.npz.1; do
    [ -e "$first" ] && cat "${first%.1}".[0-9] > "${first%.1}"
done
if [ -e "$IN/t1.all.npz" ] && [ ! -e "$WORK/t1.json" ]; then
    cp "$IN/t1.all.npz" "$WORK/"; echo '{}' > "$WORK/t1.json"
fi

keep() {
    for job in s0 d0 f; do  # what is better takes the place of what came before
        if [ -e "$WORK/$job.json" ]; then
            rm -f "$OUT"/*.weights.*; cp "$WORK/$job".weights.*.npz "$OUT/" 2> /dev/null
        fi
    done
    [ -e "$WORK/t1.all.npz" ] && cp "$WORK/t1.all.npz" "$OUT/"
    python3 - "$WORK" "$OUT" <<'END'
import json, sys
from pathlib import Path

import numpy as np

work, out = map(Path, sys.argv[1:])
reports = {path.stem: json.loads(path.read_text()) for path in sorted(work.glob("*.json"))}
(out / "reports.json").write_text(json.dumps(reports))
seen = {}
for name in reports:
    if (work / f"{name}.npz").exists():
        seen |= {f"{name}.{part}": found for part, found in np.load(work / f"{name}.npz").items()}
np.savez_compressed(out / "seen.npz", **seen)
END
}

train() {
    for name in "$@"; do
        [ -e "$WORK/$name.json" ] || python3 "$HERE/train.py" "$IN" "$WORK" "$(python3 "$HERE/plan.py" "$name")"
    done
}

run() {
    for name in "$@"; do train "$name"; keep; done
}

if [ $# -gt 0 ]; then
    run "$@"; exit
fi
run t1 d0
train f f0 > "$WORK/1.log" 2>&1 & train f1 f2 > "$WORK/2.log" 2>&1 & train f3 f4 > "$WORK/3.log" 2>&1 &
wait
keep
run c4 c2 c1
cat "$WORK"/?.log; ls -la "$OUT"
