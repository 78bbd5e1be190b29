"""Writes `results/document/keys.py`: a class for each object of the schemas, with its keys.

usage: python docs/site/views.py, if a key that Python uses was renamed; else generate.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dlbench import _core

HEAD = '''"""The keys of results.json and comparison.json, as their declarations in C++ say.

Made by docs/site/generate.py; do not edit. A key that may be absent is None where 0 is a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlbench.document.record import Key, Record, part, parts, parts_by_name
'''
#: Keys that several definitions have are those of a common class.
SHARED = {
    "StreamTrial": ("ordering", "capture"),
    "Axes": ("measured", "not_measured", "cell"),
    "Entry": ("measured", "not_measured"),
}
#: The base of a class, if it is not that of the definition which the schema names.
BASES = {"Entry": "Axes", "cell": "Axes", "measured": "Entry", "not_measured": "Entry",
         "ordering": "StreamTrial", "capture": "StreamTrial"}  # fmt: skip
PLAIN = {"string": ("str", '""'), "integer": ("int", "0"), "number": ("float", "0.0"),
         "boolean": ("bool", "False"), "null": ("None", "None")}  # fmt: skip
Schema = Mapping[str, Any]


def class_name(*words: str) -> str:
    """ "api_calls": ApiCalls; "warning", a name of Python's: CodedWarning."""
    name = "".join(word.title() for text in words for word in text.split("_"))
    return "CodedWarning" if name == "Warning" else name


def one_of(key: str) -> str:
    """ "workers": worker."""
    return key if key.endswith("ses") else key.removesuffix("s")


class Views:
    """The classes, in an order in which each is declared before its use."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self.defs = definitions
        self.made: dict[str, str] = {}
        for name in SHARED:
            required = self._required(SHARED[name][0])
            self.add(
                name,
                {"properties": self._common(name), "required": required},
                BASES.get(name, ""),
            )

    def _common(self, shared: str) -> dict[str, Any]:
        first, *others = [self._all(name) for name in SHARED[shared]]
        base = self._common(BASES[shared]) if shared in BASES else {}
        return {
            key: value
            for key, value in first.items()
            if key not in base and value and all(one.get(key) for one in others)
        }

    def _all(self, name: str) -> dict[str, Any]:
        """The keys of a definition and of that which it extends."""
        definition = self.defs[name]
        inherited = self._all(definition["$ref"][8:]) if "$ref" in definition else {}
        return {**inherited, **definition.get("properties", {})}

    def _required(self, name: str) -> list[str]:
        definition = self.defs[name]
        inherited = self._required(definition["$ref"][8:]) if "$ref" in definition else []
        return [*inherited, *definition.get("required", ())]

    def define(self, name: str) -> str:
        """The class of a definition."""
        made = class_name(name)
        if made in self.made:
            return made
        definition, base = self.defs[name], BASES.get(name, "")
        if base:
            inherited = {
                key for each, of in SHARED.items() if name in of for key in self._common(each)
            }
            own = {key: value for key, value in self._all(name).items() if key not in inherited}
            return self.add(made, {**definition, "properties": own}, base)
        return self.add(made, definition, self._base(definition))

    def _base(self, definition: Schema) -> str:
        name = definition.get("$ref", "")[8:]
        return self.define(name) if name and not self._is_alike(self.defs[name]) else ""

    def add(self, name: str, schema: Schema, base: str = "") -> str:
        """Adds the class of an object's schema."""
        required = schema.get("required", ())
        keys = [
            f"    {key} = {self.key(value, name, key, key in required)}\n"
            for key, value in schema.get("properties", {}).items()
            if value
        ]
        head = [f"class {name}({base or 'Record'}):\n"]
        if 0 < len(schema.get("description", "")) < 90:
            head.append(f'    """{schema["description"]}"""\n\n')
        self.made[name] = "".join([*head, "    __slots__ = ()\n", *keys])
        return name

    def key(self, schema: Schema, owner: str, key: str, is_required: bool) -> str:
        """How a key is declared."""
        inner = schema.get("items", schema.get("additionalProperties", schema))
        made = self._class(inner, owner, key if inner is schema else one_of(key))
        if made:
            kinds = {"items": "parts", "additionalProperties": "parts_by_name"}
            return f"{next((kinds[each] for each in kinds if each in schema), 'part')}({made})"
        kind, absent = self.kind(schema)
        if "default" in schema:
            absent = str(schema["default"]) if kind == "bool" else json.dumps(schema["default"])
        elif absent.startswith("0") and not is_required and self._admits_zero(schema):
            kind, absent = f"{kind} | None", "None"
        is_plain = any(kind == plain for plain, _ in PLAIN.values())
        return f"Key({absent})" if is_plain else f"Key[{kind}]({absent})"

    def _class(self, schema: Schema, owner: str, key: str) -> str:
        """The class of an object with keys of its own; empty for any other value."""
        target = self._resolved(schema)
        if "properties" not in target or self._is_alike(target):
            return ""
        if "properties" not in schema:
            return self.define(schema["$ref"][8:])
        return self.add(owner + class_name(key), schema, self._base(schema))

    def _resolved(self, schema: Schema) -> Schema:
        if "$ref" not in schema or "properties" in schema:
            return schema
        return self._resolved(self.defs[schema["$ref"][8:]])

    def _is_alike(self, schema: Schema) -> bool:
        """Have all keys of an object the same definition? Then it is a mapping."""
        kinds = {value.get("$ref") for value in schema.get("properties", {}).values() if value}
        return len(kinds) == 1 and None not in kinds and "$ref" not in schema

    def _admits_zero(self, schema: Schema) -> bool:
        rule = self._resolved(schema)
        return bool(rule.get("minimum", -1) <= 0 <= rule.get("maximum", 1))

    def kind(self, schema: Schema) -> tuple[str, str]:
        """The type of a value in Python, and the value that stands for an absent one."""
        schema = self._resolved(schema)
        if "const" in schema:
            return type(schema["const"]).__name__, json.dumps(schema["const"])
        if "enum" in schema:
            return ("str | None", "None") if None in schema["enum"] else PLAIN["string"]
        named = schema["type"]
        if isinstance(named, list):
            kinds = [PLAIN[each][0] for each in sorted(named, key=lambda each: each == "null")]
            return " | ".join(kinds), "None"
        if named == "array":
            return f"Sequence[{self.kind(schema['items'])[0]}]", "()"
        if named == "object":
            values = schema.get("properties", {"": schema.get("additionalProperties")}).values()
            return f"Mapping[str, {self.kind(next(iter(values)))[0]}]", "{}"
        return PLAIN[named]


def text(schema: str = "") -> str:
    """The whole file; with the schema of a document that is not dlbench's own."""
    document = json.loads(schema or _core.schema())
    comparison = json.loads(_core.comparison_schema())
    views = Views({**document["$defs"], **comparison["$defs"]})
    views.add("Document", {**document, "description": ""})
    views.add("Comparison", {**comparison, "description": ""})
    del views.made["Document"]  # is read as a whole
    return "\n\n".join([HEAD, *views.made.values()])


if __name__ == "__main__":
    file = Path(__file__).parents[2] / "results/document/keys.py"
    file.write_text(text(), encoding="utf-8")
