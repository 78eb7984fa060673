"""docs/deploy.md as its reader follows it: every command, in its order, on an empty cluster (F2).

The commands run as they are written. What a person adds is added beside them: the password on
standard input, the files that the page names, and a yes to Pulumi's questions.
"""

import re
import subprocess
from pathlib import Path

import pytest

from sandbox.paths import CHECKOUT
from tests.certificates import certificate
from tests.engine.clone import Clone
from tests.simulation import license_text

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]
PASSWORD = "Correct-Horse-Battery-1!"
PAGE = (CHECKOUT / "docs/deploy.md").read_text()
# Of the sandbox's environment: the page has its own backend and stacks.
NOT_THE_READERS = "unset PULUMI_BACKEND_URL PULUMI_STACK\n"
BUILD = "/api/v1/namespaces/coder/services/http:coder:80/proxy/api/v2/buildinfo"


def shell_blocks(heading: str) -> list[str]:
    """The commands below one heading; those of the page's beginning are below its title."""
    (section,) = [
        text
        for text in re.split(r"^#+ ", PAGE, flags=re.MULTILINE)
        if text.partition("\n")[0] == heading
    ]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


class Reader:
    """Somebody in a fresh clone, with a kubeconfig of an empty cluster."""

    def __init__(self, clone: Clone) -> None:
        self.clone = clone
        (self._prepare,) = shell_blocks("Deploy to your own cluster")
        self.home = clone.folder / "home"
        self.home.mkdir()
        self._as_reader = f"export HOME={self.home} PULUMI_SKIP_CONFIRMATIONS=true\n"
        # Else the page's first command would install the environment of this very test again.
        subprocess.run(["make", "--question", ".venv/.ready"], cwd=clone.folder, check=True)

    def types(self, *commands: str) -> str:
        """Run commands of the page, in one shell that stops at the first failure."""
        return self.looks(self._prepare, *commands)

    def looks(self, *commands: str) -> str:
        """Run commands that need nothing of the page's beginning; return what they say."""
        script = "\n".join([NOT_THE_READERS, self._as_reader, *commands])
        done = self.clone.run("sandbox", "exec", "--", "sh", "-euc", script, stdin=PASSWORD)
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        assert PASSWORD not in said
        return said


@pytest.fixture
def reader(clone: Clone) -> Reader:
    clone.start_python_warm()
    clone.start()
    return Reader(clone)


def test_F2_the_trial_comes_up_is_clean_goes_away_and_comes_back(reader: Reader) -> None:
    deploy, remove = shell_blocks("Trial")

    said = reader.types(deploy)
    assert "stack Ready: True" in said
    said = reader.looks("coder-stack drift --stack trial", f"kubectl get --raw {BUILD}")
    assert "clean, ready" in said
    assert '"version"' in said, "coderd answers"

    reader.types(remove)
    left = reader.looks("pulumi stack export --stack trial", "kubectl get namespaces --output name")
    assert '"urn"' not in left
    assert "namespace/coder\n" not in left

    said = reader.types("pulumi up --stack trial", "coder-stack drift --stack trial")
    assert "clean, ready" in said


def test_F2_production_comes_up_from_the_files_that_the_page_names(reader: Reader) -> None:
    folder: Path = reader.clone.folder
    (folder / "database-url").write_text("postgres://coder@db.example.com/coder\n")
    (folder / "license.jwt").write_text(license_text())
    certificate(folder, "coder", "coder.example.com")
    certificate(folder, "wildcard", "*.coder.example.com")
    certificate(folder, "sydney", "sydney.coder.example.com")
    (deploy,) = shell_blocks("Production")

    said = reader.types(deploy)
    assert "stack production: clean, ready" in said
    pods = (
        "kubectl --namespace coder get deployment coder --output jsonpath={.status.readyReplicas}"
    )
    assert reader.looks(pods).endswith("3")

    kept = "kubectl --namespace coder get secrets,deployments --output name"
    left = reader.types("pulumi destroy --stack production", kept).split()
    named = {
        each.partition("/")[2] for each in left if each.startswith(("secret/", "deployment.apps/"))
    }
    certificates = {"coder-tls", "coder-wildcard-tls", "sydney-tls"}
    assert named == {"coder-database", "coder-license", *certificates}


def test_F2_every_shell_block_of_the_page_is_walked() -> None:
    """Else somebody adds commands that nobody has ever run."""
    walked = [*shell_blocks("Deploy to your own cluster"), *shell_blocks("Trial")]
    walked += shell_blocks("Production")
    assert re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) == walked
