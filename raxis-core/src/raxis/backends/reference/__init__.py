"""The NumPy backend: the executable definition of every primitive."""

from raxis.backends.reference.backend import ReferenceBackend
