"""All published formulas of filters and sketches, in the symbols of the papers (docs/theory.md)."""

from ._tally import _theory
from ._theory_records import *  # noqa: F401,F403

globals().update({name: own for name, own in vars(_theory).items() if not name.startswith("_")})
