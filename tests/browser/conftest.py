"""One JupyterLab and one Chromium for all browser tests; every folder that they write to is temporary."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import uuid

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "docmanager-extension/plugin": {"autosave": False},
}


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Lab:
    """A running JupyterLab. `open` gives a notebook's page, `saved` what stands in its file."""

    def __init__(self, url, folder, browser):
        self.url, self.folder, self.browser = url, folder, browser

    def write(self, cells, name=""):
        """A notebook file of code cells; returns its name."""
        name = name or f"{uuid.uuid4().hex[:8]}.ipynb"
        made = [
            {
                "cell_type": "code",
                "id": f"c{i}",
                "metadata": {},
                "source": c,
                "outputs": [],
                "execution_count": None,
            }
            for i, c in enumerate(cells)
        ]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        book = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        (self.folder / name).write_text(json.dumps(book), "utf-8")
        return name

    def open(self, name, width=1000, height=900, theme="JupyterLab Light"):
        """The page of a notebook file, ready to be run."""
        page = self.browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(30_000)
        page.goto(f"{self.url}/doc/tree/{name}")
        self.ready(page)
        if page.evaluate("document.body.dataset.jpThemeName") != theme:  # it stays from page to page
            command(page, "apputils:change-theme", {"theme": theme})
            page.wait_for_selector(f'body[data-jp-theme-name="{theme}"]', state="attached")
        return page

    def ready(self, page):
        """Wait until the notebook stands and its kernel is there."""
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session?.kernel"
            "?.status === 'idle'"
        )

    def saved(self, page, name):
        """The notebook file, saved now."""
        command(page, "docmanager:save")
        return json.loads((self.folder / name).read_text("utf-8"))


def command(page, name, arguments=None):
    """Execute a command of JupyterLab."""
    page.evaluate("([name, args]) => window.jupyterapp.commands.execute(name, args)", [name, arguments or {}])


def run_all(page):
    """Run all cells; does not wait for their end."""
    page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")


def wait_idle(page):
    """Wait until every cell has run."""
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.status === 'idle'"
        " && ![...document.querySelectorAll('.jp-InputPrompt')].some((p) => p.textContent.includes('*'))"
    )


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """JupyterLab and Chromium, started once."""
    with started(tmp_path_factory.mktemp("lab")) as running:
        yield running


@contextlib.contextmanager
def started(home):
    """A JupyterLab that writes to the folder `home` alone; the screenshots of the docs are taken in it, too."""
    from playwright.sync_api import sync_playwright

    if not CHROMIUM:
        pytest.fail(
            "the browser tests need Chromium: install it, or name it in CHROMIUM; or run -m 'not browser'"
        )
    folder = home / "notebooks"
    folder.mkdir()
    for name, values in SETTINGS.items():
        path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "ANTHROPIC_"))}
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "AGENT_NB_HOME")
    env |= {name: str(home / name.lower()) for name in places}
    env |= {
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "PYTHONPATH": str(pathlib.Path(__file__).parents[2]),
    }
    env |= {"JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces")}
    port = _free_port()
    options = [
        *("--no-browser", "--allow-root", f"--ServerApp.root_dir={folder}", f"--ServerApp.port={port}"),
        *("--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"),
        *("--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None", "--ServerApp.port_retries=0"),
    ]
    log = (home / "server.log").open("w")
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyter", "lab", *options], env=env, stdout=log, stderr=log, cwd=folder
    )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}/api/status", server, home / "server.log")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            yield Lab(url, folder, browser)
            browser.close()
    finally:
        server.terminate()
        server.wait(20)
        log.close()


def _wait_for(url, server, log):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if server.poll() is not None:
            pytest.fail(f"JupyterLab ended at once:\n{log.read_text()[-3000:]}")
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2):
            return
        time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start in a minute:\n{log.read_text()[-3000:]}")


@pytest.fixture(name="run_all")
def _run_all():
    return run_all


@pytest.fixture(name="wait_idle")
def _wait_idle():
    return wait_idle
