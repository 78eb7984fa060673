"""What coderd's resources answer, with a license and without one."""

import pytest

from tests.unit.components.provisioner.fleet import CONNECTED, ISSUED, NOT_CONNECTED, NOT_ISSUED
from tests.unit.components.rendering import Recorder


@pytest.fixture
def licensed(recorder: Recorder) -> Recorder:
    recorder.answers = {"ProvisionerKey": ISSUED, "DaemonsConnected": CONNECTED}
    return recorder


@pytest.fixture
def unlicensed(recorder: Recorder) -> Recorder:
    recorder.answers = {"ProvisionerKey": NOT_ISSUED, "DaemonsConnected": NOT_CONNECTED}
    return recorder
