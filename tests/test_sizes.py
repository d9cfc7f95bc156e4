"""Sizes as text and back."""

import pytest

from codegen.sizes import format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (0, 0),
        (4096, 4096),
        ("4096", 4096),
        ("12B", 12),
        ("320KiB", 320 * 1024),
        ("320 KiB", 320 * 1024),
        (" 1MiB ", 1 << 20),
        ("1.5MiB", 3 << 19),
        ("0.5KiB", 512),
        ("2GiB", 2 << 30),
    ],
)
def test_parse(text: object, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", [-1, True, None, 1.5, "", "KiB", "-1", "1KB", "1kib", "0x10", "1.0001KiB", "9" * 30]
)
def test_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"must be bytes|must not be negative|must be a whole"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (104_448, "102 KiB"),
        (104_500, "102.1 KiB"),
        (1 << 20, "1 MiB"),
        (7936 << 10, "7936 KiB"),
        (21 << 19, "10.5 MiB"),
        (1 << 30, "1 GiB"),
    ],
)
def test_format(size: int, text: str) -> None:
    assert format_size(size) == text


def test_format_is_read_back() -> None:
    for size in (1, 1023, 1024, 8192, 5 << 20, 3 << 30):
        assert parse_size(format_size(size)) == size
