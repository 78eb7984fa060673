"""What importing the client brings along."""

import subprocess
import sys


def test_importing_the_client_imports_nothing_of_pulumi() -> None:
    code = "import sys, coder_stack.coderd; print(*{m.partition('.')[0] for m in sys.modules})"

    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()

    assert "httpx" in loaded
    assert not {"pulumi", "pulumi_kubernetes", "pulumi_policy", "kubernetes"} & set(loaded)
