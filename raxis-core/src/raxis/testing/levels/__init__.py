"""The parts of the conformance kit: each module has `cases`, which gives the cases for a device."""
