"""The streams: what they see, and what they survive (N1)."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from coder_stack.operate.watch import object_stream
from coder_stack.operate.watch.facts import ABSENT, ANSWERS, Facts
from coder_stack.operate.watch.kubernetes_watch import KubernetesWatch
from tests.unit.operate.watch.api_server import Answers, api_server
from tests.unit.operate.watch.recorded import CLUSTER, deployment, facts
from tests.waiting import eventually

CODER = deployment()
KNOWN = {"generation": 1, "labels": dict(CODER.labels)}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    for name in ("_FIRST_PAUSE", "_LONGEST_PAUSE", "_LONGEST_FORBIDDEN_PAUSE"):
        monkeypatch.setattr(object_stream, name, 0.01)
    with api_server(tmp_path) as server:
        server.put("coder", **KNOWN)
        server.events.get()
        yield server


def recorded(server: Answers) -> Facts:
    return replace(facts(CODER), clusters={CLUSTER: server.cluster})


@contextmanager
def watching(server: Answers) -> Iterator[KubernetesWatch]:
    watch = KubernetesWatch(Path("/"), threading.Event().set)
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
    monkeypatch.setattr(object_stream, "_LONGEST_FORBIDDEN_PAUSE", 300)
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
    assert watch.looks(recorded(server), 1e9)[CLUSTER] == ANSWERS, "it answers: 403"
    watch.stop()


def test_N1_a_kind_that_is_no_longer_served_has_no_objects(server: Answers) -> None:
    server.refuse["list"] = [404] * 1000
    watch = KubernetesWatch(Path("/"), threading.Event().set)
    watch.follow(recorded(server))
    assert becomes(watch, server, ABSENT)
    watch.stop()


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
