"""What every memory engine must do, as a suite anyone can run over theirs.

```python
from corebrain import ReferenceEngine
from corebrain import conformance

conformance.run(ReferenceEngine())  # raises at the first thing that is wrong
print(conformance.run_all(ReferenceEngine()).text())
```
"""

from corebrain.conformance.errors import CheckFailed, ConformanceError, EngineFailed
from corebrain.conformance.report import Outcome, Report, State
from corebrain.conformance.suite import CHECKS, Check, run, run_all, run_one

__all__ = [
    "CHECKS",
    "Check",
    "CheckFailed",
    "ConformanceError",
    "EngineFailed",
    "Outcome",
    "Report",
    "State",
    "run",
    "run_all",
    "run_one",
]
