from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.pool import Limits, ParserPool
from corebrain.documents.registry import Parser
from corebrain.documents.types import ConvertedDocument, RawDocument


@pytest.fixture(scope="session")
def samples() -> Path:
    return Path(__file__).parents[2] / "documents_samples"


@pytest.fixture(scope="session")
def mock() -> Parser:
    """The parser that obeys orders, good and bad ones."""
    return Parser("mock", "corebrain.documents.convert.mock")


@pytest.fixture
def pool() -> Iterator[ParserPool]:
    """One worker with limits short enough to be reached in a test."""
    with ParserPool(1, Limits(wall_s=1.0, memory=200_000_000, reply=1_000_000)) as pool:
        yield pool


@pytest.fixture
def order(pool: ParserPool, mock: Parser) -> Callable[[str], ConvertedDocument]:
    """Give the mock parser an order, in a worker."""
    return lambda text: pool.convert(mock, RawDocument(text.encode()), "mock")


@pytest.fixture
def open_order(mock: Parser) -> Iterator[Callable[[str], ConvertedDocument]]:
    """The same, in a worker that may leave notes outside its folder."""
    with ParserPool(1, Limits(wall_s=1.0, confined=False)) as pool:
        yield lambda text: pool.convert(mock, RawDocument(text.encode()), "mock")


@pytest.fixture(scope="session")
def converter() -> Iterator[RegistryConverter]:
    """What `default_converter` is, closed at the end."""
    made = RegistryConverter()
    yield made
    made.close()
