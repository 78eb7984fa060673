"""Shortcuts of the tests: translate texts, and load what was written as the program does."""

import json
from typing import Any

import yaml

from coder_stack.settings import Settings, load
from coder_stack.start.from_helm import Kind, Outcome, Target, Translation, stack_file, translate
from coder_stack.start.from_helm.outcomes import Path, leaves
from coder_stack.start.from_helm.values import values_in

BESIDE, REPLACE = Target(), Target(replace=True)


def translation_of(*documents: Any, target: Target = BESIDE) -> Translation:
    """Translate texts or documents, each as a file of its own."""
    parsed = [yaml.safe_load(each) if isinstance(each, str) else each for each in documents]
    files = [values_in(each, f"{index}.yaml") for index, each in enumerate(parsed)]
    return translate(files, target)


def settings_of(translation: Translation) -> Settings:
    """Load the written file; every mistake fails the test."""
    config = yaml.safe_load(stack_file(translation))["config"]
    return load({key: json.dumps(value) for key, value in config.items()}, "coder-stack")


def lines(translation: Translation, kind: Kind) -> dict[str, str]:
    """Return the lines of one kind, by the path or by the variable's name."""
    return {
        each.label or each.line.split(": ")[0].split(" -> ")[0]: each.line
        for each in translation.of(kind)
    }


def unaccounted(document: Any, outcomes: tuple[Outcome, ...]) -> list[Path]:
    """Return the paths of values that no outcome is about."""
    told = {tuple(map(str, each.path)) for each in outcomes}  # keys are text, as in JSON
    # An empty mapping may have become a part of another file's.
    parts = {path[: n + 1] for path in told for n in range(len(path))}
    found = ((path, tuple(map(str, path)), leaf) for path, leaf in leaves(document))
    return [
        path
        for path, steps, leaf in found
        if not any(steps[: n + 1] in told for n in range(len(steps)))
        and not (leaf == {} and steps in parts)
    ]
