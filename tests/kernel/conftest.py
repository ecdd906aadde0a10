"""A real ipykernel, spoken to as a front end does."""

import os
import pathlib
import queue
import sys
import time

import pytest
from jupyter_client.manager import KernelManager

PATIENCE_S = 60


class Cell:
    """What a front end knows about a cell that was sent: its outputs, as they stand after all updates."""

    def __init__(self, id):
        self.id = id
        self.outputs = []
        self.reply = None
        self.begun = self.idle = False
        self.slots = {}

    def take(self, message):
        content = message["content"]
        match message["msg_type"]:
            case "stream" | "error":
                self.outputs.append({"type": message["msg_type"], **content})
            case "display_data" | "execute_result":
                output = {"type": message["msg_type"], **content}
                if display_id := content.get("transient", {}).get("display_id"):
                    self.slots[display_id] = output
                self.outputs.append(output)
            case "update_display_data":
                self.slots[content["transient"]["display_id"]]["data"] = content["data"]
            case "execute_input":
                self.begun = True
            case "status" if content["execution_state"] == "idle":
                self.idle = True

    @property
    def status(self):
        return self.reply["content"]["status"]

    @property
    def text(self):
        return "".join(output.get("text", "") for output in self.outputs)

    @property
    def error(self):
        return next((output for output in self.outputs if output["type"] == "error"), None)

    @property
    def shown(self):
        return [output["data"] for output in self.outputs if "data" in output]


class Kernel:
    """One kernel, and the cells that were sent to it."""

    def __init__(self, env):
        self.manager = KernelManager(kernel_name="python3")
        self.manager.kernel_spec.argv[0] = sys.executable
        self.manager.start_kernel(env=env)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE_S)
        self.cells = {}

    def send(self, code, stdin=False, cell_id=""):
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}}
        content |= {"allow_stdin": stdin, "stop_on_error": True}
        message = self.client.session.msg("execute_request", content)
        if cell_id:
            message["metadata"]["cellId"] = cell_id
        cell = self.cells[message["header"]["msg_id"]] = Cell(message["header"]["msg_id"])
        self.client.shell_channel.send(message)
        return cell

    def pump(self, seconds=0.02):
        """Take up what has come."""
        for channel, take in (
            (self.client.iopub_channel, self._published),
            (self.client.shell_channel, self._replied),
        ):
            try:
                while True:
                    take(channel.get_msg(timeout=seconds))
            except queue.Empty:
                pass

    def wait(self, until, patience_s=PATIENCE_S):
        end = time.monotonic() + patience_s
        while not until():
            self.pump()
            assert self.manager.is_alive(), "the kernel died"
            if time.monotonic() > end:
                raise TimeoutError("it took too long")

    def done(self, cell, patience_s=PATIENCE_S):
        self.wait(lambda: cell.reply is not None and cell.idle, patience_s)
        return cell

    def run(self, code, **settings):
        return self.done(self.send(code, **settings))

    def value(self, expression):
        """repr of an expression, evaluated in the kernel."""
        cell = self.run(f"print(repr({expression}))")
        assert cell.status == "ok", cell.outputs
        return cell.text.strip()

    def asked(self):
        """The next input() that the kernel asks for."""
        return self.client.stdin_channel.get_msg(timeout=PATIENCE_S)["content"]

    def interrupt(self):
        self.manager.interrupt_kernel()

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()

    def _published(self, message):
        if cell := self.cells.get(message["parent_header"].get("msg_id")):
            cell.take(message)

    def _replied(self, message):
        if cell := self.cells.get(message["parent_header"].get("msg_id")):
            cell.reply = message


SETUP = pathlib.Path(__file__).with_name("setup_cell.py").read_text("utf-8")


def environment(folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "JPY_"))}
    return env | {
        "AGENT_NB_HOME": str(folder / "home"),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "MARK": str(folder / "mark"),
        "MPLCONFIGDIR": str(folder / "matplotlib"),
    }


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernel")
    made = Kernel(environment(folder))
    made.mark = folder / "mark"
    try:
        assert made.run("%load_ext agent_nb").status == "ok"
        assert made.run(SETUP).status == "ok"
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def start_kernel():
    """A function folder → kernel, with everything it keeps in that folder and no extension loaded."""
    made = []

    def start(folder):
        made.append(Kernel(environment(folder)))
        return made[-1]

    yield start
    for kernel in made:
        kernel.stop()
