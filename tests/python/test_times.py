"""What are times: numpy, pandas and numbers as nanoseconds."""

import datetime

import numpy
import pandas
import pytest

from tally._times import MAX_TIME, nanoseconds_of, nanoseconds_of_one

SECOND = 10**9
DAY = 86_400 * SECOND


@pytest.mark.parametrize("unit, factor", [("D", DAY), ("h", 3600 * SECOND), ("m", 60 * SECOND), ("s", SECOND), ("ms", 10**6), ("us", 1000), ("ns", 1)])
def test_datetimes_of_every_unit_and_byte_order(unit, factor):
    values = numpy.array([-3, 0, 12_345], f"datetime64[{unit}]")
    for array in (values, values.astype(f">M8[{unit}]"), numpy.repeat(values, 2)[::2]):
        assert nanoseconds_of(array).tolist() == [-3 * factor, 0, 12_345 * factor]
    far = numpy.array([-(2**62), 2**62], f"datetime64[{unit}]")
    assert nanoseconds_of(far).tolist()[0] <= -MAX_TIME + DAY and nanoseconds_of(far).tolist()[1] >= MAX_TIME - DAY


def test_calendar_and_fine_units():
    assert nanoseconds_of(numpy.array(["1970", "1971"], "M8[Y]")).tolist() == [0, 365 * DAY]
    assert nanoseconds_of(numpy.array(["1970-02"], "M8[M]")).tolist() == [31 * DAY]
    assert nanoseconds_of(numpy.array([10**12, -(10**12)], "M8[Y]"))[0] > 140 * 365 * DAY
    assert nanoseconds_of(numpy.array([3_999, -1], "M8[ps]")).tolist() == [3, -1]


def test_pandas_columns_with_and_without_a_time_zone():
    naive = pandas.Series(pandas.to_datetime(["2026-11-21 20:45:00", "2026-11-21 20:45:01.5"]), index=[7, 3])
    expected = [1_795_293_900 * SECOND, 1_795_293_901 * SECOND + SECOND // 2]
    assert nanoseconds_of(naive).tolist() == expected
    assert nanoseconds_of(naive.dt.tz_localize("UTC").dt.tz_convert("Europe/Paris")).tolist() == expected
    assert nanoseconds_of(pandas.DatetimeIndex(naive)).tolist() == expected
    assert nanoseconds_of(pandas.Series([1, 2], dtype="Int64")).tolist() == [1, 2]
    assert nanoseconds_of(pandas.Series([1, 2.5], dtype="Float64")).tolist() == [SECOND, 5 * SECOND // 2]


def test_integers_are_nanoseconds_and_floats_seconds():
    for dtype in ("i1", "u1", "i4", ">i8", "u8"):
        assert nanoseconds_of(numpy.array([1, 100], dtype)).tolist() == [1, 100]
    assert nanoseconds_of([1, 2**62, -(2**63)]).tolist() == [1, MAX_TIME, -MAX_TIME]
    assert nanoseconds_of(numpy.array([2**64 - 1], "u8")).tolist() == [MAX_TIME]
    assert nanoseconds_of([2**70, 1]).tolist() == [MAX_TIME, 1]
    assert nanoseconds_of([0.5, -0.25, 1e30, float("-inf")]).tolist() == [SECOND // 2, -SECOND // 4, MAX_TIME, -MAX_TIME]
    assert nanoseconds_of(numpy.array([1_795_293_900.25])).tolist() == [1_795_293_900 * SECOND + SECOND // 4]
    assert nanoseconds_of(numpy.array([1.5], "f2")).tolist() == [SECOND * 3 // 2]
    assert nanoseconds_of([]).tolist() == [] and nanoseconds_of([]).dtype == numpy.int64


def test_one_time():
    assert nanoseconds_of_one(numpy.datetime64("1970-01-02")).tolist() == [DAY]
    assert nanoseconds_of_one(pandas.Timestamp("1970-01-02", tz="UTC")).tolist() == [DAY]
    assert nanoseconds_of_one(7).tolist() == [7] and nanoseconds_of_one(0.5).tolist() == [SECOND // 2]
    assert nanoseconds_of_one(numpy.int8(7)).tolist() == [7]


@pytest.mark.parametrize(
    "times, error, words",
    [
        (numpy.array(["1970-01-01", "NaT"], "M8[s]"), ValueError, "times[1] is NaT"),
        (pandas.Series(pandas.to_datetime(["2026-01-01", None])), ValueError, "times[1] is NaT"),
        (pandas.Series(pandas.to_datetime(["2026-01-01", None])).dt.tz_localize("UTC"), ValueError, "times[1] is NaT"),
        ([0.0, 1.0, float("nan")], ValueError, "times[2] is NaN"),
        (pandas.Series([1, None], dtype="Int64"), TypeError, "times[1] is <NA>"),
        ([1, None], TypeError, "times[1] is None"),
        ([datetime.datetime(2026, 1, 1)], TypeError, "numpy.array(times, 'datetime64[ns]')"),
        (["2026-01-01"], TypeError, "dtype <U10"),
        ([True, False], TypeError, "dtype bool"),
        ([1, True, "x"], TypeError, "dtype <U"),
        (numpy.array([1, True], object), TypeError, "times[1] is True"),
        (numpy.array([1], "m8[s]"), TypeError, "dtype timedelta64[s]"),
        ([1j], TypeError, "dtype complex128"),
        (numpy.zeros((2, 2), int), ValueError, "2 dimensions"),
        (3, ValueError, "0 dimensions"),
        (None, ValueError, "0 dimensions"),
    ],
)
def test_what_is_not_a_time_is_refused_with_its_position(times, error, words):
    with pytest.raises(error) as raised:
        nanoseconds_of(times)
    assert words in str(raised.value)
