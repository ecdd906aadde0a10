"""A PostgreSQL server for the whole session, started by the first test that asks for it."""

import importlib.util
import itertools
import pathlib

import pytest

_FILE = pathlib.Path(__file__).parents[2] / "benchmarks" / "postgres_server.py"
_numbers = itertools.count()


@pytest.fixture(scope="session")
def server():
    spec = importlib.util.spec_from_file_location("postgres_server", _FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    running = module.Server()
    yield running
    running.close()


@pytest.fixture(scope="session")
def prepared(server):
    """A database with the tables made, which each test copies; and a role that neither owns them nor is superuser."""
    import psycopg

    from agent_nb.memory import Memory

    with psycopg.connect(server.url(), autocommit=True) as admin:
        admin.execute("CREATE ROLE owner LOGIN")
        admin.execute("CREATE ROLE app LOGIN")
        admin.execute("CREATE DATABASE made OWNER owner")
    with psycopg.connect(server.url(database="made"), autocommit=True) as admin:
        admin.execute("CREATE EXTENSION vector")
    with Memory(server.url("owner", "made"), embedder=None) as memory:
        memory.stats()
    with psycopg.connect(server.url(database="made"), autocommit=True) as admin:
        admin.execute("GRANT USAGE ON SCHEMA agent_nb TO app")
        admin.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA agent_nb TO app")
    return server


@pytest.fixture
def database(prepared):
    """The address of a fresh database, as the role of an application."""
    import psycopg

    name = f"t{next(_numbers)}"
    with psycopg.connect(prepared.url(), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} TEMPLATE made OWNER owner")
    yield prepared.url("app", name)
    with psycopg.connect(prepared.url(), autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
