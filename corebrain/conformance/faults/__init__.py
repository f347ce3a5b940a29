"""Engines that break one part of the contract each: they prove that the suite sees it.

```python
from corebrain import ReferenceEngine, conformance
from corebrain.conformance.faults import FAULTS

for fault in FAULTS:
    try:
        conformance.run(fault.build(ReferenceEngine()))
    except conformance.CheckFailed as error:
        assert error.check == fault.trips
```
"""

from corebrain.conformance.faults.catalogue import FAULTS
from corebrain.conformance.faults.fault import Fault

__all__ = ["FAULTS", "Fault"]
