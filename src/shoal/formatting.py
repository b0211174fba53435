"""How numbers, counts and lists are written in every sentence: "1,200 records", "5.7%", "age, sex and zip code"."""

import re
from collections.abc import Sequence

_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([KMGT])(I?))?B?\s*", re.ASCII | re.IGNORECASE)


def pluralize(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun: ``1 record``, ``1,200 records``, ``2 classes``."""
    several = plural or (f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s")
    return f"{count:,} {noun if count == 1 else several}"


def percent(share: float) -> str:
    """A share as a percentage: ``5.7%``, ``100%``, ``less than 0.1%``."""
    if 0 < share < 0.001:
        return "less than 0.1%"
    if 0.999 < share < 1:
        return "more than 99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def number(value: float) -> str:
    """A number as people read it: thousands separated, at most four digits after the point, no trailing zeros."""
    if float(value).is_integer():
        return f"{int(value):,}"
    text = f"{value:,.4f}".rstrip("0").rstrip(".")
    return text if text not in {"0", "-0"} else f"{value:.1e}"


def listing(items: Sequence[object], most: int = 12) -> str:
    """Some things in a sentence: ``a``, ``a and b``, ``a, b and c``, ``a, b and 7 more``."""
    texts = [str(item) for item in items]
    if len(texts) > most:
        return f"{', '.join(texts[: most - 1])} and {len(texts) - most + 1:,} more"
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def data_size(size: float) -> str:
    """A number of bytes: ``512 bytes``, ``1.4 GB`` (powers of 1,000)."""
    power = 0
    while size >= 1000 and power < len(_UNITS) - 1:
        size, power = size / 1000, power + 1
    return f"{size:.0f} {_UNITS[power]}" if power == 0 or size >= 100 else f"{size:.1f} {_UNITS[power]}"


def duration(seconds: float) -> str:
    """A duration: ``0.412 s``, ``12.3 s``, ``2 min 5 s``."""
    if seconds < 60:
        return (
            "less than 0.001 s" if 0 < seconds < 0.001 else f"{seconds:.3f} s" if seconds < 10 else f"{seconds:.1f} s"
        )
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s"


def parse_data_size(text: str) -> int:
    """A number of bytes from ``500MB``, ``2 GB``, ``1.5GiB`` or ``1000``; `ValueError` for anything else."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a size. Write a number with a unit, such as 500MB, 2GB or 1.5GiB.")
    number, unit, binary = found.groups()
    power = "KMGT".index(unit.upper()) + 1 if unit else 0
    return int(float(number) * (1024 if binary else 1000) ** power)
