"""The version that all first-party distributions share."""

__version__ = "0.4.0"
