"""A cluster that does not answer is a mistake in the config, told before anything is registered."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from coder_stack.cluster.client import api_settings
from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.cluster.preflight import check_answers, find_cluster
from coder_stack.settings import ConfigError, KubernetesSettings, Settings
from tests.certificates import certificate
from tests.forward_proxy import forward_proxy
from tests.http_server import QuietHandler, serve


def write_kubeconfig(folder: Path, server: str, **changes: Any) -> Path:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"token": "hush-hush"}}],
        **changes,
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(content))
    return path


def problem(
    path: Path | None, context: str | None = None, environment: dict[str, str] | None = None
) -> str:
    settings = Settings(
        kubernetes=KubernetesSettings(kubeconfig=str(path) if path else None, context=context)
    )
    with pytest.raises(ConfigError) as caught:
        check_answers(settings, environment or {})
    assert "hush-hush" not in str(caught.value)
    return caught.value.problems[0]


@contextmanager
def server(status: int, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.reply(status, b"")

    with serve(Handler, tls) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("status", [200, 401, 403, 503])
def test_any_answer_will_do(tmp_path: Path, status: int) -> None:
    """The preflight sends no credentials: the API server decides about rights later."""
    with server(status) as url:
        check_answers(
            Settings(
                kubernetes=KubernetesSettings(kubeconfig=str(write_kubeconfig(tmp_path, url)))
            ),
            {},
        )


def test_B1_a_server_that_refuses_is_named(tmp_path: Path) -> None:
    url = "https://127.0.0.1:1"
    path = write_kubeconfig(tmp_path, url)
    assert problem(path) == (
        f"kubernetes.kubeconfig: the API server {url} of {path} does not answer "
        "(Connection refused)"
    )


def test_B1_something_else_on_that_port_is_named(tmp_path: Path) -> None:
    with server(200) as url:
        path = write_kubeconfig(tmp_path, url.replace("http:", "https:"))
        assert "does not answer" in problem(path)


def test_B1_a_file_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    assert problem(missing) == (
        f"kubernetes.kubeconfig: {missing} cannot be read (No such file or directory)"
    )


@pytest.mark.parametrize("content", ["token: [hush-hush", "- hush-hush", "clusters: hush-hush", ""])
def test_B1_a_file_that_is_no_kubeconfig_is_not_quoted(tmp_path: Path, content: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(content)
    assert problem(path) == f"kubernetes.kubeconfig: {path} is not a kubeconfig"


def test_B1_an_unknown_context_lists_the_known_ones(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, "https://127.0.0.1:1")
    assert problem(path, context="prod") == (
        f"kubernetes.context: {path} has no context 'prod'; it has: here"
    )


def test_B1_no_current_context(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, "https://127.0.0.1:1", **{"current-context": ""})
    assert problem(path).endswith("set kubernetes.context to one of: here")


def test_without_a_setting_kubectls_own_variable_counts(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, "https://127.0.0.1:1")
    assert str(path) in problem(None, environment={"KUBECONFIG": str(path)})


def test_several_kubeconfigs_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = write_kubeconfig(tmp_path, "https://127.0.0.1:1")
    (other := tmp_path / "other").mkdir()
    there = write_kubeconfig(
        other,
        "https://127.0.0.1:2",
        contexts=[{"name": "there", "context": {"cluster": "c", "user": "u"}}],
    )
    monkeypatch.setenv("KUBECONFIG", f"{here}{os.pathsep}{there}")
    # The first cluster of a name counts. What is in pieces in two files is left to the engine.
    assert api_settings(Kubeconfig(context="there"), Kubeconfig()).host == "https://127.0.0.1:1"
    assert api_settings(Kubeconfig(), Kubeconfig()).host == "https://127.0.0.1:1"
    assert find_cluster(KubernetesSettings(context="there"), os.environ, "kubernetes") is None
    assert f"https://127.0.0.1:1 of {here} does not answer" in problem(None, None, dict(os.environ))


def test_M2_a_cluster_in_a_further_kubeconfig_is_found_and_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current context is that of the first file that has one, as for kubectl."""
    (other := tmp_path / "other").mkdir()
    here = write_kubeconfig(tmp_path, "https://127.0.0.1:1")
    there = write_kubeconfig(
        other,
        "https://127.0.0.1:2",
        contexts=[{"name": "there", "context": {"cluster": "d", "user": "v"}}],
        clusters=[{"name": "d", "cluster": {"server": "https://127.0.0.1:2"}}],
        users=[{"name": "v", "user": {"token": "hush-hush"}}],
        **{"current-context": "there"},
    )
    files = [str(tmp_path / "absent"), str(here), str(there)]
    environment = {"KUBECONFIG": os.pathsep.join(files)}
    for context, server in ((None, "https://127.0.0.1:1"), ("there", "https://127.0.0.1:2")):
        said = problem(None, context, environment)
        assert said.startswith(f"kubernetes.kubeconfig: the API server {server} of ")
        with monkeypatch.context() as patched:
            patched.setenv("KUBECONFIG", environment["KUBECONFIG"])
            assert api_settings(Kubeconfig(context=context), Kubeconfig()).host == server
    nowhere = KubernetesSettings(context="nowhere")
    assert find_cluster(nowhere, environment, "kubernetes") is None
    there.write_text("{")
    assert find_cluster(KubernetesSettings(), environment, "kubernetes") is None


def test_inside_a_pod_no_kubeconfig_is_needed(tmp_path: Path) -> None:
    environment = {
        "KUBERNETES_SERVICE_HOST": "10.96.0.1",
        "KUBECONFIG": str(tmp_path / "absent"),
    }
    check_answers(Settings(), environment)


@pytest.fixture
def named(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """Run an API server whose certificate has an unknown host; yield its port and authority."""
    authority, key = certificate(tmp_path, "server", "api.cluster.test")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(authority, key)
    with server(200, tls) as url:
        yield int(url.rpartition(":")[2]), str(authority)


def through(folder: Path, url: str, authority: str, **fields: str) -> Path:
    cluster = {"server": url, "certificate-authority": authority, **fields}
    return write_kubeconfig(folder, url, clusters=[{"name": "c", "cluster": cluster}])


@pytest.mark.parametrize("by", ["kubeconfig", "environment"])
def test_CP11_the_cluster_is_asked_through_the_proxy(
    tmp_path: Path, named: tuple[int, str], by: str
) -> None:
    with forward_proxy(named[0]) as proxy:
        fields = {"proxy-url": proxy.url} if by == "kubeconfig" else {}
        environment = {"HTTPS_PROXY": proxy.url} if by == "environment" else {}
        path = through(tmp_path, "https://api.cluster.test:6443", named[1], **fields)
        check_answers(Settings(kubernetes=KubernetesSettings(kubeconfig=str(path))), environment)
        assert proxy.asked == ["api.cluster.test:6443"]

        proxy.refusal = "407 Proxy Authentication Required"
        assert "does not answer (the proxy answers 407 " in problem(path, environment=environment)


def test_CP11_the_clusters_certificate_is_verified_under_the_kubeconfigs_name(
    tmp_path: Path, named: tuple[int, str]
) -> None:
    url = f"https://127.0.0.1:{named[0]}"
    relative = Path(named[1]).name
    right = through(tmp_path, url, relative, **{"tls-server-name": "api.cluster.test"})
    check_answers(Settings(kubernetes=KubernetesSettings(kubeconfig=str(right))), {})
    wrong = through(tmp_path, url, named[1], **{"tls-server-name": "other.test"})
    assert "certificate verify failed" in problem(wrong)


def test_a_cluster_whose_certificate_need_not_be_trusted_answers(
    tmp_path: Path, named: tuple[int, str]
) -> None:
    cluster = {"server": f"https://127.0.0.1:{named[0]}", "insecure-skip-tls-verify": True}
    path = write_kubeconfig(tmp_path, "", clusters=[{"name": "c", "cluster": cluster}])
    check_answers(Settings(kubernetes=KubernetesSettings(kubeconfig=str(path))), {})


def test_CP11_a_proxy_that_cannot_be_used_is_a_mistake_in_the_config(tmp_path: Path) -> None:
    path = through(tmp_path, "https://a.test", "", **{"proxy-url": "socks5://ann:hush-hush@p:1"})
    assert "the kubeconfig's proxy-url must be http:// or https://" in problem(path)
