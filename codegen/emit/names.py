"""Text from a model is untrusted: identifiers are cleaned and made unique, comments escaped."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

# C99, C11 and C++ keywords, and names that <stdint.h>, <stddef.h>, <string.h> or the language own.
RESERVED = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
    constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit
    export extern false float for friend goto if inline int long main mutable namespace new
    noexcept not not_eq null nullptr operator or or_eq private protected public register
    reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename union unsigned using
    virtual void volatile wchar_t while xor xor_eq
    memcpy memset memmove strlen size_t ptrdiff_t errno assert cg main main_example
    """.split()  # noqa: SIM905
)

# A file NAME.h on the include path would stand in for a system header of the same name.
_HEADERS = frozenset(
    """
    alloca assert complex ctype endian errno fcntl features fenv float inttypes iso646 limits
    locale malloc math memory newlib picolibc poll pthread reent sched search setjmp signal
    stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings
    tgmath threads time uchar unistd wchar wctype
    """.split()  # noqa: SIM905
)

# The output's CMakeLists.txt names a target like the model: CMake keeps some names for itself, and
# linking one called like a library of the system would take that library's place.
_TARGETS = frozenset(
    """
    all clean depend dl edit_cache gcc help install list_install_components m nosys package
    package_source preinstall rebuild_cache rt test
    """.split()  # noqa: SIM905
)

MAX_LENGTH = 40


def identifier(text: str, fallback: str = "model") -> str:
    """A lower-case C identifier that resembles `text`, valid as a prefix of public symbols.

    >>> identifier("3-net v1.0(final)")
    'model_3_net_v1_0_final'
    >>> identifier("int"), identifier("")
    ('model_int', 'model')
    """
    cleaned = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:MAX_LENGTH].strip("_")
    if not cleaned:
        return fallback
    if cleaned[0].isdigit() or cleaned in RESERVED | _HEADERS | _TARGETS:
        return f"{fallback}_{cleaned}"
    return cleaned


def unique(names: Iterable[str]) -> list[str]:
    """The same names, later ones numbered until no two are equal.

    >>> unique(["a_b", "a_b", "a_b_2"])
    ['a_b', 'a_b_2', 'a_b_2_2']
    """
    taken: set[str] = set()
    result = []
    for name in names:
        candidate, number = name, 2
        while candidate in taken:
            candidate, number = f"{name}_{number}", number + 1
        taken.add(candidate)
        result.append(candidate)
    return result


def comment(text: str) -> str:
    """`text` for use inside a C comment: one line of printable ASCII that cannot end it.

    >>> comment("a */ b" + chr(10) + "c")
    'a * / b c'
    """
    return _harmless(text)[:120].strip()


def comment_lines(text: str) -> tuple[str, ...]:
    """`text` for use inside a C comment, whole, in as many lines as it takes."""
    return tuple(textwrap.wrap(_harmless(text), 116, subsequent_indent="  "))


def _harmless(text: str) -> str:
    printable = "".join(c if " " <= c <= "~" else " " if c.isspace() else "?" for c in text)
    return _TOUCHING.sub(" ", printable.replace("\\", "/"))


_TOUCHING = re.compile(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)")
"""Between the characters of comment marks and trigraphs."""
