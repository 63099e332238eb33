"""Have I seen this key, and how often? Sets and counts that change, in a fraction of the memory of a hash table.

The error rate is planned, measured and stated. docs/python.md is the guide.
"""

from . import theory
from ._records import *  # noqa: F401,F403
from ._tally import *  # noqa: F401,F403
from ._tally import __version__
from ._streams import *  # noqa: F401,F403
from ._sharded import ShardedFilter
from ._records import digest_dtype
