"""For each rule: resources that comply, and changes that violate it, remove or hide a value.

One module for each kind of rule. test_rules.py checks each row.
"""

from collections.abc import Mapping

from tests.unit.policies.cases.access import ACCESS
from tests.unit.policies.cases.keys import KEYS
from tests.unit.policies.cases.licensing import LICENSING
from tests.unit.policies.cases.ownership import OWNERSHIP
from tests.unit.policies.cases.row import Row
from tests.unit.policies.cases.secrets import SECRETS
from tests.unit.policies.cases.versions import VERSIONS
from tests.unit.policies.cases.workload import WORKLOAD

TABLE: Mapping[str, Row] = {
    **WORKLOAD,
    **SECRETS,
    **ACCESS,
    **LICENSING,
    **VERSIONS,
    **KEYS,
    **OWNERSHIP,
}
