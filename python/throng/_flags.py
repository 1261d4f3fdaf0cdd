"""Keyword arguments as flags of the command line, which has the documentation, the limits and the messages for all of them."""

from __future__ import annotations

import os
from typing import Any, List, Mapping


def flags(options: Mapping[str, Any]) -> List[str]:
    """`{"samples": 8, "transparent": True}` as `["--samples=8", "--transparent"]`. None and False leave a flag out."""
    out: List[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        for one in value if isinstance(value, (list, set, frozenset)) else [value]:
            out.append(flag if one is True else f"{flag}={text(one)}")
    return out


def text(value: Any) -> str:
    """A value as the command line has it: numbers of a tuple are separated by commas."""
    if isinstance(value, (tuple,)) or hasattr(value, "tolist"):
        values = value.tolist() if hasattr(value, "tolist") else value
        return ",".join(text(v) for v in values) if isinstance(values, (list, tuple)) else text(values)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return repr(value) if isinstance(value, float) else str(value)
