"""Timestamps of section 1: ``YYYY-MM-DDTHH:MM:SSZ``, an existing moment in the years 0000 to 9999.

Such timestamps have the same order as their strings, so they are compared as strings.
"""

from __future__ import annotations

import re

_TIME = re.compile(
    "([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z"
)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap(year: int) -> bool:
    """Return whether a year is a leap year of the proleptic Gregorian calendar; the year 0 is."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def is_time(value: object) -> bool:
    """Return whether a value is the timestamp of an existing moment."""
    if not isinstance(value, str):
        return False
    match = _TIME.fullmatch(value)
    if match is None:
        return False
    year, month, day, hour, minute, second = (int(group) for group in match.groups())
    if not 1 <= month <= 12:
        return False
    days = _DAYS[month - 1] + (1 if month == 2 and is_leap(year) else 0)
    return 1 <= day <= days and hour <= 23 and minute <= 59 and second <= 59
