"""Dashboard, alert rules and metrics agree (N3).

promql-parser is a port of Prometheus' own parser; promtool is on no package registry for Python.
"""

import json
import re
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from promql_parser import parse

from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.report.model import LicenseDates
from coder_stack.operate.watch.metrics import WatchMetrics
from coder_stack.operate.watch.server import address_of, serve
from sandbox.paths import CHECKOUT
from tests.unit.operate.reports import NOW, drifted

RULES = yaml.safe_load((CHECKOUT / "monitoring/rules.yaml").read_text())
DASHBOARD = json.loads((CHECKOUT / "monitoring/dashboard.json").read_text())
PAGE = (CHECKOUT / "docs/watch.md").read_text()
NAME = re.compile(r"\bcoder_stack_\w+")


def alerts() -> list[dict[str, Any]]:
    return [rule for group in RULES["groups"] for rule in group["rules"]]


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in alerts())
    for panel in DASHBOARD["panels"]:
        # Grafana replaces its variables before Prometheus sees them.
        yield from (target["expr"].replace("$stack", "dev") for target in panel["targets"])


def expression_of(alert: str) -> str:
    (found,) = [rule["expr"] for rule in alerts() if rule["alert"] == alert]
    return found


def metrics() -> WatchMetrics:
    found = WatchMetrics("dev")
    dates = LicenseDates(applied=True, license_expires=NOW, exp=NOW, warn_days=30)
    found.report = drifted().model_copy(update={"stack": "dev", "license": dates})
    return found


def samples() -> dict[str, set[str]]:
    """Every series' name, with the names of its labels."""
    text = metrics().text(NOW).decode()
    return {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.parametrize("expression", [*expressions()])
def test_N3_every_expression_is_promql_about_metrics_that_exist(expression: str) -> None:
    parse(expression)
    names = set(NAME.findall(expression))
    assert names
    assert names <= samples().keys()


@pytest.mark.parametrize("expression", [*expressions()])
def test_N3_labels_that_are_selected_exist(expression: str) -> None:
    for name, labels in re.findall(r"(coder_stack_\w+)\{([^}]*)\}", expression):
        asked = set(re.findall(r"(\w+)=", labels))
        assert asked <= samples()[name]


def test_N3_each_stack_has_an_alert_of_its_own_for_its_watcher() -> None:
    """`absent` alone is silent while any other watcher runs."""
    either = parse(expression_of("CoderStackWatcherDown"))
    gone = either.lhs
    assert (str(either.op), str(gone.op)) == ("or", "unless")
    assert "stack" in gone.modifier.matching.labels
    assert "stack" in gone.lhs.modifier.labels
    assert "[1d]" in str(gone.lhs), "else it ends as soon as the last series is out of date"


def test_N3_the_end_of_a_license_is_compared_within_one_scrape() -> None:
    """With `on (stack)`, two scrapes of stacks with the same name would be an error."""
    compared = parse(expression_of("CoderLicenseEnds"))
    assert str(compared.modifier) == "ignoring (date)"
    left, right = NAME.findall(str(compared))
    assert samples()[left] - samples()[right] == {"date"}
    assert samples()[right] <= samples()[left]


def test_N3_repairs_are_counted_however_many_resources_each_has() -> None:
    """One loss of many objects is repaired once."""
    undone = parse(expression_of("CoderStackRepairsUndone"))
    assert undone.lhs.func.name == "changes"
    (counter,) = NAME.findall(str(undone))
    found, counts = metrics(), list[float]()
    for repaired in (11, 0, 11):
        found.repaired.inc(repaired)
        families = text_string_to_metric_families(found.text(NOW).decode())
        counts += [s.value for each in families for s in each.samples if s.name == counter]
    assert counts == [11, 11, 22], "it changes with each repair, and with nothing else"
    assert 1 < undone.rhs.val < 12, "somebody who undoes every repair causes twelve in an hour"


def test_N3_a_refusal_is_told_as_long_as_it_lasts() -> None:
    assert expression_of("CoderStackRepairRefused") == "coder_stack_refused == 1"


def test_N3_a_watcher_that_never_checked_is_told() -> None:
    """Its last check is at 0, which is no date: it is late by when it started."""
    either = parse(expression_of("CoderStackNotChecked"))
    assert str(either.op) == "or"
    late, never = str(either.lhs), str(either.rhs)
    assert "last_look_timestamp_seconds{} > 0" in late
    assert "last_look_timestamp_seconds{} == 0" in never
    assert "started_timestamp_seconds{} > 0" in never, "until it has started, that is 0, too"


def test_N3_alerts_are_complete() -> None:
    for rule in alerts():
        assert {"alert", "expr", "labels", "annotations"} <= rule.keys()
        assert rule["annotations"].keys() == {"summary", "next_step"}
        assert rule["labels"]["severity"] in ("warning", "critical")
    assert len({rule["alert"] for rule in alerts()}) == len(alerts())


def test_N3_the_page_describes_every_metric_of_the_watcher_and_every_alert() -> None:
    own = {name.removesuffix("_created") for name in samples() if "_watch_" in name}
    own = {re.sub(r"_(bucket|count|sum)$", "", name) for name in own if "_created" not in name}
    described = set(NAME.findall(PAGE))
    assert {name for name in own if not name.endswith("_created")} <= described | {
        name.removesuffix("_total") for name in own if name in described
    }
    assert all(rule["alert"] in PAGE for rule in alerts())


def test_N3_metrics_begin_at_zero() -> None:
    """A counter that appears with its first event would hide it from `increase`."""
    text = WatchMetrics("dev").text(NOW).decode()
    assert 'coder_stack_watch_suspicions_total{source="coderd",stack="dev"} 0.0' in text
    assert 'coder_stack_watch_refused_total{stack="dev"} 0.0' in text
    assert 'coder_stack_watch_notice_seconds_count{source="kubernetes",stack="dev"} 0.0' in text


def test_N3_the_license_is_counted_from_now_not_from_the_last_check() -> None:
    later = NOW.replace(year=NOW.year + 1)
    text = metrics().text(later).decode()
    line = next(each for each in text.splitlines() if 'date="exp"' in each)
    assert float(line.rpartition(" ")[2]) == -(later - NOW).total_seconds()


class Served:
    why_not_healthy = ""
    why_not_ready = "The first check has not ended yet."

    def metrics_text(self) -> bytes:
        return metrics().text(NOW)


def test_N3_the_pages_are_served_beside_each_other() -> None:
    served = Served()
    port = serve("127.0.0.1:0", served)

    def get(path: str) -> tuple[int, str]:
        answer = httpx.get(f"http://127.0.0.1:{port}{path}", trust_env=False)
        return answer.status_code, answer.text

    assert get("/healthz") == (200, "ok\n")
    assert get("/readyz") == (503, "The first check has not ended yet.\n")
    served.why_not_ready = ""
    assert get("/readyz")[0] == 200
    assert "coder_stack_watch_last_look_timestamp_seconds" in get("/metrics")[1]
    assert get("/")[0] == 404
    assert any(each.name == "pages" and each.daemon for each in threading.enumerate())


@pytest.mark.parametrize("listen", ["", "9187", "host:", ":x", "127.0.0.1:99999"])
def test_N3_a_bad_address_is_one_sentence(listen: str) -> None:
    with pytest.raises(OperationError, match="it must be HOST:PORT"):
        address_of(listen)


def test_N3_an_address_in_use_is_one_sentence() -> None:
    port = serve("127.0.0.1:0", Served())
    with pytest.raises(OperationError, match=f"Cannot listen on 127.0.0.1:{port}"):
        serve(f"127.0.0.1:{port}", Served())
