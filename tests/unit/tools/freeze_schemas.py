"""Writes the frozen schemas anew. Run it only on purpose: what models were shown changes with it.

python tests/unit/tools/freeze_schemas.py
"""

import json
from pathlib import Path

from corebrain.model.requests import FetchMode
from corebrain.tools.schemas import tool_specs

FROZEN = Path(__file__).with_name("schemas.json")

if __name__ == "__main__":
    specs = [spec.to_dict() for spec in tool_specs(tuple(FetchMode), writes=True)]
    FROZEN.write_text(json.dumps(specs, indent=2) + "\n", encoding="utf-8")
