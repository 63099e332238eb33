"""Times of records: from numpy, pandas and numbers to int64 nanoseconds, which the C++ side takes."""

from __future__ import annotations

import numbers
from typing import Any

import numpy
from numpy.typing import NDArray

#: 146 years in ns. The library replaces times further from 0 by this one, and so does this module, before it multiplies.
MAX_TIME = 4_600_000_001_000_000_000
_SECOND = 1_000_000_000
_RULE = "must be numpy datetime64, pandas datetimes, integers (nanoseconds) or floats (seconds)"
_FIX = "; pass numpy.array(times, 'datetime64[ns]') or pandas.to_datetime(times)"


def nanoseconds_of(times: Any, field: str = "times") -> NDArray[numpy.int64]:
    """One time per record. TypeError for another type, ValueError that names the first NaT or NaN and its position."""
    if getattr(getattr(times, "dtype", None), "tz", None) is not None:  # pandas with a time zone: to UTC
        times = times.to_numpy(dtype="datetime64[ns]")
    if numpy.ma.is_masked(times):
        raise ValueError(f"{field} has masked values; leave such records out")
    values = numpy.asarray(times)
    if values.ndim != 1:
        raise ValueError(f"{field} has {values.ndim} dimensions; must have 1, with one time per record")
    if values.dtype.kind == "O":
        values = _of_objects(values, field)
    kind = values.dtype.kind
    if kind == "M":
        return _of_datetimes(values, field)
    if kind in "iu":
        return _clipped(values)
    if kind == "f":
        return _of_seconds(values.astype(numpy.float64), field)
    if values.size == 0:
        return numpy.zeros(0, numpy.int64)
    raise TypeError(f"{field} has dtype {values.dtype}; {_RULE}" + (_FIX if kind in "USO" else ""))


def nanoseconds_of_one(time: Any, field: str = "time") -> NDArray[numpy.int64]:
    """The same for one record."""
    if hasattr(time, "to_datetime64"):  # a pandas Timestamp
        time = time.to_datetime64()
    if not isinstance(time, numpy.datetime64) and not _is_number(time):
        raise TypeError(f"{field} is of type {type(time).__name__}; {_RULE}")
    if time != time:
        raise ValueError(f"{field} is {time}; must be a time; leave such records out")
    return nanoseconds_of([time], field)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, numpy.bool_))


def _of_objects(values: NDArray[Any], field: str) -> NDArray[Any]:
    """Numbers that are objects, such as those of a pandas Int64 column."""
    for position, value in enumerate(values.tolist()):
        if not _is_number(value):
            raise TypeError(f"{field}[{position}] is {value!r:.60}; {_RULE}{_FIX}")
    if all(isinstance(value, numbers.Integral) for value in values):
        return numpy.array([max(-MAX_TIME, min(int(value), MAX_TIME)) for value in values], numpy.int64)
    return numpy.array([float(value) for value in values])


def _of_datetimes(values: NDArray[Any], field: str) -> NDArray[numpy.int64]:
    missing = numpy.isnat(values)
    if missing.any():
        raise ValueError(f"{field}[{int(missing.argmax())}] is NaT; must be a time; leave such records out")
    if numpy.datetime_data(values.dtype)[0] not in ("ns", "ps", "fs", "as", "generic"):
        # Coarse units reach beyond what int64 nanoseconds can hold.
        limits = numpy.array([-MAX_TIME, MAX_TIME]).astype("datetime64[ns]").astype(values.dtype.newbyteorder("="))
        values = numpy.clip(values, limits[0], limits[1])
    return _clipped(values.astype("datetime64[ns]").astype(numpy.int64))


def _of_seconds(values: NDArray[numpy.float64], field: str) -> NDArray[numpy.int64]:
    missing = numpy.isnan(values)
    if missing.any():
        raise ValueError(f"{field}[{int(missing.argmax())}] is NaN; must be a time in seconds; leave such records out")
    values = numpy.clip(values, -MAX_TIME / _SECOND, MAX_TIME / _SECOND)
    whole = numpy.floor(values)
    return _clipped(whole.astype(numpy.int64) * _SECOND + numpy.rint((values - whole) * _SECOND).astype(numpy.int64))


def _clipped(values: NDArray[Any]) -> NDArray[numpy.int64]:
    if values.dtype.kind == "u":
        return numpy.minimum(values, MAX_TIME).astype(numpy.int64)
    return numpy.ascontiguousarray(numpy.clip(values.astype(numpy.int64), -MAX_TIME, MAX_TIME))
