"""Which keys a refresh asks coderd about, by the plaintext that the state holds (K3)."""

import random
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_OID, UUID, uuid5

import pytest
from pydantic import SecretStr

from coder_stack.coderd.models import KeyRecord
from coder_stack.dynamic.key.inputs import KeyState, facts_of
from coder_stack.dynamic.key.verification import (
    FEW,
    TURNS,
    is_its_turn,
    is_suspect,
)

START = datetime(2030, 1, 1, tzinfo=UTC)
SOME_HOUR = 500_123
KEY = SecretStr("k" * 43)


def record(number: int) -> KeyRecord:
    return KeyRecord(
        id=uuid5(NAMESPACE_OID, str(number)),
        name=f"key-{number}",
        organization=UUID(int=1),
        tags={"region": "eu"},
        created_at=START + timedelta(minutes=number),
    )


def listed(count: int) -> list[KeyRecord]:
    return [record(number) for number in range(count)]


def verified(keys: list[KeyRecord], hour: int) -> set[str]:
    return {key.name for key in keys if is_its_turn(key, keys, hour)}


class TestTurn:
    @pytest.mark.parametrize("every", [1, 2, 6, 12, 24, 168])
    def test_K3_each_key_is_verified_once_in_as_many_refreshes_as_there_are_turns(
        self, every: int
    ) -> None:
        """Also by a schedule that comes at the same time of each day or week."""
        keys = listed(100)
        turns = [verified(keys, SOME_HOUR + every * n) for n in range(TURNS)]
        assert sorted(name for turn in turns for name in turn) == sorted(key.name for key in keys)

    def test_K3_no_key_waits_longer_while_others_come_and_go(self) -> None:
        """As in a fleet whose keys are rotated all the time."""
        dice, keys = random.Random(1), listed(100)  # noqa: S311  # the same in every run
        waited = {key.name: 0 for key in keys}
        for number in range(10 * TURNS):
            keys.pop(dice.randrange(len(keys)))
            keys.append(record(100 + number))
            seen = verified(keys, SOME_HOUR + number)
            waited = {
                each.name: 0 if each.name in seen else waited.get(each.name, 0) + 1 for each in keys
            }
            assert max(waited.values()) < TURNS

    def test_K3_of_a_few_keys_each_refresh_verifies_all(self) -> None:
        for hour in range(TURNS):
            assert len(verified(listed(FEW), hour)) == FEW

    def test_design_8_a_refresh_verifies_a_small_share_of_many_keys(self) -> None:
        keys = listed(1000)
        shares = [len(verified(keys, SOME_HOUR + n)) for n in range(TURNS)]
        assert max(shares) < 3 * len(keys) / TURNS


class TestSuspicion:
    def recorded(self, **otherwise: object) -> KeyState:
        known = {
            "connection": {"url": "https://coder.test"},
            "organization": "coder",
            "base_name": "key",
            **facts_of(record(1), KEY),
            **otherwise,
        }
        return KeyState.model_validate(known)

    def seen(self, known: KeyState) -> KeyState:
        return known.model_copy(update=facts_of(record(1), known.material))

    def test_K3_what_the_list_and_the_checksum_confirm_is_not_suspect(self) -> None:
        known = self.recorded()
        assert not is_suspect(known, self.seen(known))

    @pytest.mark.parametrize(
        "otherwise",
        [
            {"material": "x" * 43},
            {"material": "", "material_sha256": ""},
            {"material_sha256": ""},
            {"key_id": ""},
            {"created_at": ""},
            {"organization_id": None},
            {"name": "other"},
            {"tags": {"region": "us"}},
            {"material_valid": False},
        ],
        ids="+".join,
    )
    def test_K3_whatever_differs_makes_it_suspect(self, otherwise: dict[str, object]) -> None:
        known = self.recorded(**otherwise)
        assert is_suspect(known, self.seen(known))
