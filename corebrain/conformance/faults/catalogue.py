"""All faults, in the order of the checks they trip."""

from corebrain.conformance.faults.believing import BELIEVING
from corebrain.conformance.faults.reading import READING
from corebrain.conformance.faults.removing import REMOVING
from corebrain.conformance.faults.writing import WRITING
from corebrain.conformance.suite import CHECKS, CLEANUP

_ORDER = [check.name for check in (*CHECKS, CLEANUP)]

FAULTS = tuple(
    sorted((*READING, *WRITING, *REMOVING, *BELIEVING), key=lambda fault: (_ORDER.index(fault.trips), fault.name))
)
"""Every fault of spec 05 section 3, and further ones; each check is tripped by at least one."""
