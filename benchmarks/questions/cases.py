"""`python -m benchmarks.questions.cases OUT`: the fourth writer's questions as `attest evaluate
questions` reads them."""

import json
import sys
from pathlib import Path

KEPT = ("id", "question", "kind", "primary_problem", "must_name", "should_not_be_taken_for")


def main(out: Path) -> None:
    """Write a case a line."""
    written = Path(__file__).with_name("marked") / "fourth.jsonl"
    with out.open("w", encoding="utf-8") as file:
        for line in written.read_text("utf-8").splitlines():
            row = json.loads(line)
            case = {name: row[name] for name in KEPT}
            case |= {"answer_type": row["type"], "constraints": row["constraints_free"]}
            file.write(json.dumps(case, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
