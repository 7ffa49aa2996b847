"""The tags of PGN and the properties of SGF that mean the same."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SGF_OF = {
    "Event": "EV",
    "Site": "PC",
    "Date": "DT",
    "Round": "RO",
    "Annotator": "AN",
    "Opening": "ON",
    "TimeControl": "TM",
    "Copyright": "CP",
    "Source": "SO",
    "Title": "GN",
    "WhiteElo": "BR",  # White is the first player in PGN, Black in SGF
    "BlackElo": "WR",
    "Remark": "GC",
}
_PGN_OF = {sgf: pgn for pgn, sgf in _SGF_OF.items()}


def in_pgn(tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags as PGN names them; properties of SGF without such a name are left out.

    >>> in_pgn({"EV": "Cup", "Board": "3", "DT": "1846-09-11"})
    {'Event': 'Cup', 'Board': '3', 'Date': '1846.09.11'}
    """
    found = {_PGN_OF.get(name, name): value for name, value in tags.items()}
    named = {name: value for name, value in found.items() if re.fullmatch(r"[A-Z][a-z]\w*|[A-Za-z]\w{2,}", name)}
    if re.fullmatch(r"\d{4}-\d\d-\d\d", named.get("Date", "")):
        named["Date"] = named["Date"].replace("-", ".")
    return named


def in_sgf(tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags as SGF names them; tags of PGN without such a name, and those of unknown value, are left out.

    >>> in_sgf({"Event": "Cup", "RU": "Chinese", "Date": "1846.09.11", "Site": "?"})
    {'EV': 'Cup', 'RU': 'Chinese', 'DT': '1846-09-11'}
    """
    found = {_SGF_OF.get(name, name): value for name, value in tags.items()}
    named = {
        name: value for name, value in found.items()
        if re.fullmatch("[A-Z]{2}", name) and value.strip("?. ")
    }  # fmt: skip
    if re.fullmatch(r"\d{4}\.\d\d\.\d\d", named.get("DT", "")):
        named["DT"] = named["DT"].replace(".", "-")
    return named
