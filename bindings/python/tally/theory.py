"""All published formulas of filters and sketches, in the symbols of the papers (docs/theory.md)."""

from ._tally.theory import *  # noqa: F401,F403
