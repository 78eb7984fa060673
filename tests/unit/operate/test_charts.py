"""The geometry of the page's charts: where bars end, and which labels have room (D2)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given

from coder_stack.conditions import Condition, ConditionStatus
from coder_stack.operate.report.charts import Segment, age_bar, shares, timeline
from coder_stack.operate.report.model import KeyAge, LicenseDates
from tests.page.any_model import anything
from tests.unit.operate.reports import moments

NOW = datetime(2027, 3, 1, tzinfo=UTC)


def dates(begin: int | None, end: int | None, warn_days: int | None = None) -> LicenseDates:
    """Return a license whose dates are that many days from now."""
    moment = (None if days is None else NOW + timedelta(days=days) for days in (begin, end))
    return LicenseDates(applied=True, license_expires=next(moment), exp=next(moment),
                        warn_days=warn_days)  # fmt: skip


def condition(status: ConditionStatus) -> Condition:
    return Condition(component="stack", type="x", status=status, reason="y")


def test_D2_the_license_is_valid_then_in_grace_then_ended() -> None:
    chart = timeline(dates(50, 75), NOW)
    assert chart
    assert [(part.tone, part.label) for part in chart.segments] == [
        ("ok", "valid"),
        ("warn", "grace"),
        ("bad", "ended"),
    ]
    assert [part.has_room for part in chart.segments] == [True, True, True]


def test_D2_a_short_grace_period_has_its_word_above_it() -> None:
    chart = timeline(dates(350, 360), NOW)
    assert chart
    assert [part.has_room for part in chart.segments] == [True, False, True]


def test_D2_without_its_end_grace_goes_on() -> None:
    chart = timeline(dates(50, None), NOW)
    assert chart
    assert [part.label for part in chart.segments] == ["valid", "grace"]


def test_D2_without_any_date_there_is_no_chart() -> None:
    assert timeline(dates(None, None, 30), NOW) is None


@pytest.mark.parametrize(("today", "warned"), [(-40, False), (-20, True)])
def test_D2_the_time_of_the_warning_ends_where_grace_begins(today: int, warned: bool) -> None:
    chart = timeline(dates(0, 14, 30), NOW + timedelta(days=today))
    assert chart
    assert chart.warned
    assert chart.warned.start + chart.warned.width == pytest.approx(chart.segments[1].start)
    assert (chart.warned.start <= chart.today) == warned


def test_D2_a_key_turns_yellow_before_it_is_rotated() -> None:
    def tone(age: int, limit: int | None) -> str:
        key = KeyAge(provisioner="p", organization="o", key_name="k", age_days=age,
                     rotate_after_days=limit)  # fmt: skip
        bar = age_bar(key, oldest=100)
        return bar.tone if bar else ""

    assert [tone(71, 90), tone(72, 90), tone(90, 90), tone(500, None)] == [
        "ok", "warn", "bad", "calm",
    ]  # fmt: skip


def test_D2_shares_carry_their_number() -> None:
    assert shares(map(condition, ("True", "Unknown", "True", "False"))) == (
        Segment("ok", 0, 50, "2 True"),
        Segment("bad", 50, 25, "1 False"),
        Segment("warn", 75, 25, "1 Unknown"),
    )


@given(anything(LicenseDates), moments())
def test_D2_whatever_the_dates_the_chart_is_filled(given: LicenseDates, now: datetime) -> None:
    chart = timeline(given, now)
    if chart is None:
        return
    assert sum(part.width for part in chart.segments) == pytest.approx(100, abs=0.05)
    assert chart.segments[0].has_room
    assert chart.segments[-1].has_room
    gaps = [b.at - a.at for a, b in zip(chart.ticks, chart.ticks[1:], strict=False)]
    assert all(gap > 10 for gap in gaps)
    assert 0 < chart.today < 100
