"""The streams: what they see, and what they survive (N1)."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coder_stack.operate.watch import object_stream, retry_pause
from coder_stack.operate.watch.facts import ABSENT, ANSWERS, REFUSED, AnswerFact, Facts
from coder_stack.operate.watch.kubernetes_watch import KubernetesWatch
from coder_stack.operate.watch.suspicion import Suspicions
from tests.unit.operate.watch.api_server import Answers, api_server
from tests.unit.operate.watch.recorded import CLUSTER, deployment, facts
from tests.waiting import eventually

CODER = deployment()
KNOWN = {"generation": 1, "labels": dict(CODER.labels)}
EXPIRED: dict[str, Any] = {"type": "ERROR", "object": {"kind": "Status", "code": 410}}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    for name in ("_FIRST_PAUSE", "_LONGEST_PAUSE", "_LONGEST_FORBIDDEN_PAUSE"):
        monkeypatch.setattr(retry_pause, name, 0.01)
    with api_server(tmp_path) as server:
        server.put("coder", **KNOWN)
        server.events.get()
        yield server


def recorded(server: Answers) -> Facts:
    return replace(facts(CODER), clusters={CLUSTER: server.cluster})


def wait_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a stream that pauses pause for the rest of the test."""
    for name in ("_FIRST_PAUSE", "_LONGEST_PAUSE", "_LONGEST_FORBIDDEN_PAUSE"):
        monkeypatch.setattr(retry_pause, name, 300.0)


@contextmanager
def watching(server: Answers, said: list[str] | None = None) -> Iterator[KubernetesWatch]:
    heard = list[str]() if said is None else said
    watch = KubernetesWatch(Path("/"), threading.Event().set, heard.append)
    watch.follow(recorded(server))
    try:
        assert eventually(lambda: bool(server.of("watch")))
        yield watch
    finally:
        watch.stop()
        server.cut()


def look(watch: KubernetesWatch, server: Answers) -> str:
    return watch.looks(recorded(server), 0).get(CODER.key, "unknown")


def becomes(watch: KubernetesWatch, server: Answers, wanted: str) -> bool:
    return eventually(lambda: look(watch, server) == wanted)


def test_N1_a_change_and_a_deletion_are_seen_as_they_are_streamed(server: Answers) -> None:
    with watching(server) as watch:
        assert becomes(watch, server, CODER.expected)
        server.put("coder", **{**KNOWN, "generation": 2})
        assert becomes(watch, server, replace(CODER, generation=2).expected)
        server.delete("coder")
        assert becomes(watch, server, ABSENT)
        assert watch.looks(recorded(server), 0)[CLUSTER] == ANSWERS


def test_N1_only_metadata_is_asked_for_so_that_no_secret_is_read(server: Answers) -> None:
    with watching(server):
        pass
    assert all("as=PartialObjectMetadata" in each for each in server.accepted)
    assert server.of("list") == ["app=coder,tier=coder"], "by label"


def test_N1_a_stream_that_was_cut_goes_on_where_it_was(server: Answers) -> None:
    with watching(server) as watch:
        server.put("coder", **{**KNOWN, "generation": 2})
        assert becomes(watch, server, replace(CODER, generation=2).expected)
        server.cut()
        assert eventually(lambda: len(server.of("watch")) > 1)
    assert server.of("watch")[1] == "12"
    assert len(server.of("list")) == 1, "nothing was listed again"


@pytest.mark.parametrize("how", ["event", "status"])
def test_N1_an_expired_resource_version_is_listed_again(server: Answers, how: str) -> None:
    with watching(server) as watch:
        assert becomes(watch, server, CODER.expected)
        server.objects.clear()  # unseen: in the time that the server has forgotten
        if how == "event":
            server.error(410)
        else:
            server.refuse["watch"] = [410]
            server.cut()
        assert becomes(watch, server, ABSENT)


@pytest.mark.parametrize(("brief", "asked"), [([], 1), ([EXPIRED], 2)])
def test_N1_streams_of_no_use_are_not_opened_again_and_again(
    server: Answers, monkeypatch: pytest.MonkeyPatch, brief: list[dict[str, Any]], asked: int
) -> None:
    """Some proxies close every watch at once; only the first expiry is listed again at once."""
    wait_long(monkeypatch)
    server.brief = brief
    with watching(server) as watch:
        (thread,) = watch.threads.values()
        assert eventually(lambda: thread.state.failing)
        assert len(server.of("watch")) == len(server.of("list")) == asked
        assert [each.collection for each in watch.unseen] == [CODER.collection]
        assert look(watch, server) == CODER.expected
        assert watch.looks(recorded(server), time.monotonic())[CLUSTER] == ANSWERS


def test_N1_a_stream_that_lived_goes_on_at_once_even_if_it_expired(
    server: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_long(monkeypatch)
    monkeypatch.setattr(object_stream, "_LIVED_SECONDS", -1.0)
    with watching(server) as watch:
        for rounds in (2, 3):
            server.error(410)
            assert eventually(lambda wanted=rounds: len(server.of("watch")) == wanted)
        server.cut()
        assert eventually(lambda: len(server.of("watch")) == 4)
        assert len(server.of("list")) == 3
        assert eventually(lambda: not watch.unseen)


@pytest.mark.parametrize("status", [500, 503, 429])
def test_N1_an_api_server_that_fails_leaves_what_was_seen(server: Answers, status: int) -> None:
    with watching(server) as watch:
        assert becomes(watch, server, CODER.expected)
        server.refuse["watch"] = [status] * 5
        server.cut()
        assert eventually(lambda: len(server.of("watch")) > 6)
        assert look(watch, server) == CODER.expected


def test_N1_an_api_server_that_refuses_everything_while_it_starts_is_soon_asked_again(
    server: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry_pause, "_LONGEST_FORBIDDEN_PAUSE", 300)
    with watching(server) as watch:
        assert becomes(watch, server, CODER.expected)
        server.refuse["watch"] = [403] * 3
        server.cut()
        server.delete("coder")
        assert becomes(watch, server, ABSENT)


def test_N1_without_the_right_to_watch_nothing_is_suspected(server: Answers) -> None:
    server.refuse["list"] = [403] * 1000
    watch = KubernetesWatch(Path("/"), threading.Event().set)
    watch.follow(recorded(server))
    assert eventually(lambda: len(server.of("list")) > 2)
    assert watch.settled
    assert look(watch, server) == "unknown"
    watch.stop()


@pytest.mark.parametrize(
    ("status", "step"),
    [
        (401, "check the credentials in the kubeconfig"),
        (403, "give its account the right to list and watch them"),
    ],
)
def test_N1_what_is_refused_after_a_while_is_unknown_until_it_may_be_watched_again(
    server: Answers, status: int, step: str
) -> None:
    """A token has expired, or somebody has edited the Role."""
    said: list[str] = []
    with watching(server, said) as watch:
        assert becomes(watch, server, CODER.expected)
        assert watch.unseen == []
        server.refuse = {"list": [status] * 1000, "watch": [status] * 1000}
        server.cut()
        assert becomes(watch, server, "unknown")
        assert eventually(lambda: len(server.of("list")) > 3), "it goes on trying"
        assert [each.collection for each in watch.unseen] == [CODER.collection]
        assert look(watch, server) == "unknown"
        why = f"its API server answered {status}; {step}"
        assert said == [f"may not watch deployments in coder of {CLUSTER}: {why}"]

        server.refuse.clear()
        assert becomes(watch, server, CODER.expected)
        assert watch.unseen == []
        assert len(said) == 1


def test_N1_without_the_right_to_watch_a_list_is_not_believed(server: Answers) -> None:
    """Nothing would tell of the next change."""
    server.refuse["watch"] = [403] * 1000
    with watching(server) as watch:
        assert eventually(lambda: len(server.of("watch")) > 3)
        assert look(watch, server) == "unknown"
        assert watch.unseen


def test_N1_a_cluster_that_refuses_every_stream_starts_one_check(server: Answers) -> None:
    known = facts(CODER, AnswerFact("urn:cluster", CLUSTER, "the API server"))
    known = replace(known, clusters={CLUSTER: server.cluster})
    suspicions = Suspicions()
    suspicions.record(known)
    server.refuse["list"] = [403] * 1000
    watch = KubernetesWatch(Path("/"), threading.Event().set)
    watch.follow(known)
    assert eventually(lambda: watch.settled)
    soon, later = time.monotonic(), time.monotonic() + 60
    assert watch.looks(known, soon)[CLUSTER] == ANSWERS, "one that starts refuses everything"
    looks = watch.looks(known, later)
    assert looks[CLUSTER] == REFUSED
    assert [each.key for each in suspicions.observe(looks, 0)] == [CLUSTER]
    suspicions.judged(suspicions.judging(), (), suspicions.due(1), 1)
    assert suspicions.observe(watch.looks(known, later), 2) == []
    watch.stop()


def test_N1_a_kind_that_is_no_longer_served_has_no_objects(server: Answers) -> None:
    server.refuse["list"] = [404] * 1000
    watch = KubernetesWatch(Path("/"), threading.Event().set)
    watch.follow(recorded(server))
    assert becomes(watch, server, ABSENT)
    watch.stop()


def test_N1_a_kind_that_is_served_no_longer_after_a_while_has_no_objects(server: Answers) -> None:
    said: list[str] = []
    with watching(server, said) as watch:
        assert becomes(watch, server, CODER.expected)
        server.refuse = {"list": [404] * 1000, "watch": [404] * 1000}
        server.cut()
        assert becomes(watch, server, ABSENT)
        assert (watch.unseen, said) == ([], [])


def test_N1_streams_move_to_the_cluster_of_another_kubeconfig(
    server: Answers, tmp_path: Path
) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    with api_server(folder) as other, watching(server) as watch:
        (before,) = watch.threads.values()
        watch.follow(recorded(other))
        (after,) = watch.threads.values()
        assert after is not before
        assert becomes(watch, other, ABSENT), "it has no object"


def test_N1_streams_follow_the_facts(server: Answers) -> None:
    with watching(server) as watch:
        (thread,) = watch.threads.values()
        watch.follow(recorded(server))
        assert list(watch.threads.values()) == [thread], "the same objects, the same stream"
        watch.follow(replace(recorded(server), objects=()))
        assert watch.threads == {}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_N3_it_shows_if_a_stream_has_failed(
    server: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watching(server) as watch:
        assert not watch.has_failed
        monkeypatch.setattr(object_stream, "Seen", None)  # a mistake of the program
        server.put("coder", **KNOWN)
        assert eventually(lambda: watch.has_failed)
