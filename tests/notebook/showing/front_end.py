"""A front end without a page: a real kernel, spoken to as JupyterLab does, with and without a subshell."""

import os
import queue

from jupyter_client.manager import KernelManager

VIEW = "application/vnd.jupyter.widget-view+json"


class FrontEnd:
    """Starts a kernel; `run` sends a cell, `until` reads what it publishes, `say` sends as the trace's page."""

    def __init__(self, folder, subshell=True):
        env = os.environ | {"IPYTHONDIR": str(folder / "ipython"), "AGENT_NB_HOME": str(folder / "home")}
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(env=env, cwd=str(folder))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=20)
        self.busy = False
        self.subshell = self._subshell() if subshell else None
        here = os.path.dirname(__file__)
        self.run(f"import sys, time; sys.path.insert(0, {here!r})")
        self.until(idle)

    def _subshell(self):
        self.client.control_channel.send(self.client.session.msg("create_subshell_request", {}))
        return self.client.get_control_msg(timeout=30)["content"]["subshell_id"]

    def run(self, code, allow_stdin=True):
        """Send a cell; does not wait. What earlier cells left unread is forgotten; one that hangs is ended."""
        if self.busy:
            self.manager.interrupt_kernel()
            self.reply()
        self.busy = True
        while True:
            try:
                self.client.get_iopub_msg(timeout=0.1)
            except queue.Empty:
                break
        self.cell = self.client.execute(code, allow_stdin=allow_stdin)
        self.heard, self.comm, self.key, self.updates = [], "", "", {}

    def until(self, wanted):
        """Read published messages until `wanted(type, content)`; returns that content."""
        while True:
            message = self.client.get_iopub_msg(timeout=20)
            kind, content = message["msg_type"], message["content"]
            mine = message["parent_header"].get("msg_id") == self.cell
            self.heard.append((kind, content, mine))
            if mine and idle(kind, content):
                self.busy = False
            if kind == "comm_open" and "_esm" in content["data"].get("state", {}):
                self.comm, self.key = content["comm_id"], content["data"]["state"]["key"]
            if kind == "comm_msg" and content["comm_id"] == self.comm:
                self.updates |= content["data"].get("state", {})
            if (wanted is not idle or mine) and wanted(kind, content):
                return content
            # A cell that fails or ends too early must not look like one that hangs.
            assert wanted is idle or not (mine and kind == "error"), content["traceback"]
            assert wanted is idle or not (mine and idle(kind, content)), "the cell ended before it came"

    def say(self, on_subshell=True, **message):
        """Send a custom message of the page, to the subshell or to the busy main shell."""
        data = {"method": "custom", "content": {"run": self.key, **message}}
        made = self.client.session.msg("comm_msg", {"comm_id": self.comm, "data": data})
        if on_subshell:
            made["header"]["subshell_id"] = self.subshell
        self.client.shell_channel.send(made)

    def reply(self):
        """The execute_reply of the cell."""
        while True:
            message = self.client.get_shell_msg(timeout=20)
            if message["parent_header"].get("msg_id") == self.cell:
                return message["content"]

    def outputs(self):
        """What stands below the cell in the end, as a front end would put it together."""
        shown = {}
        for kind, content, mine in self.heard:
            slot = content.get("transient", {}).get("display_id") if "transient" in content else None
            if kind == "update_display_data":
                for known in shown.values():
                    if known[0] == slot:
                        known[1] = content["data"]
            elif kind == "display_data" and mine:
                shown[len(shown)] = [slot, content["data"]]
            elif kind in ("stream", "error") and mine:
                shown[len(shown)] = [None, {kind: content}]
        return [data for _, data in shown.values()]

    def stop(self):
        """End the kernel."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def idle(kind, content):
    """The cell has run."""
    return kind == "status" and content["execution_state"] == "idle"


def custom(content):
    """The content of a custom message of a widget, or {}."""
    data = content.get("data", {})
    return data.get("content", {}) if isinstance(data, dict) and data.get("method") == "custom" else {}


def whole(kind, content):
    """A message that draws everything."""
    return kind == "comm_msg" and custom(content).get("full") is True


def question(kind, content):
    """The page is asked something."""
    return kind == "comm_msg" and bool(custom(content).get("ask"))
