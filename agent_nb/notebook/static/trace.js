// The live trace. The kernel draws the parts (escaped HTML); this page puts them in their place without
// disturbing the reader, counts seconds, and sends clicks. A click on a memory's id asks for {record: HTML}. Messages:
//   {ops: [{op: "put", key, slot, html, age} | {op: "drop", key}], full, ask: {ask, kind, html, …} | null}
// keys.js and gates.js stand before this file in the page's one module.
const SLOTS = ["head", "line", "load", "plan", "steps", "now", "pictures", "answer", "end", "moments"];
const HELLO_MS = 150;
const HELLOS = 40;

const make = (tag, className, text) => {
  const node = document.createElement(tag);
  if (className) node.className = `agent-nb-${className}`;
  if (text) node.textContent = text;
  return node;
};

const button = (className, text, title, onclick) => {
  const node = make("button", className, text);
  node.type = "button";
  node.title = title;
  node.onclick = onclick;
  return node;
};

// Put new HTML into a part; what the reader opened stays open, and where the keyboard is stays where it was.
function fill(node, html) {
  if (node.made === html) return;
  const before = [...node.querySelectorAll("details")];
  const focused = before.findIndex((d) => d.firstElementChild === document.activeElement);
  node.made = html;
  node.innerHTML = html;
  for (const id of node.querySelectorAll("[data-record]")) {
    id.setAttribute("tabindex", "0");
    id.setAttribute("role", "button");
    id.setAttribute("aria-label", `open memory ${id.dataset.record}`);
  }
  node.querySelectorAll("details").forEach((d, i) => {
    if (before[i]?.touched) [d.open, d.touched] = [before[i].open, true];
    d.firstElementChild.addEventListener("click", () => (d.touched = true));
    if (i === focused) d.firstElementChild.focus({ preventScroll: true });
  });
}

const told = (s) => (s < 100 ? `${s.toFixed(1)} s` : `${Math.round(s)} s`);

function tick(root) {
  for (const node of root.querySelectorAll("[data-since]")) {
    const s = (performance.now() - node.closest("[data-part]").changed) / 1000;
    const takes = Number(node.dataset.takes);
    const against = !takes || s < 1 ? "" : s <= 2 * takes ? ` of about ${takes} s` : `, longer than the ${takes} s declared`;
    node.textContent = told(s) + against;
  }
  const now = root.querySelector("[data-seconds]");
  if (now) {
    const s = Number(now.dataset.seconds) + (performance.now() - now.closest("[data-part]").changed) / 1000;
    now.textContent = told(s) + (now.dataset.limit ? ` / ${Number(now.dataset.limit)} s` : "");
  }
}

// The question: what is to be run, and the three answers.
function askBox(send) {
  const box = make("div", "ask");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "The agent asks for your approval");
  const what = make("div", "what");
  const edit = make("textarea", "edit");
  edit.spellcheck = false;
  const problem = make("div", "problem");
  problem.setAttribute("role", "alert");
  const reason = make("input", "reason");
  reason.placeholder = "why not? (optional)";
  reason.setAttribute("aria-label", "Reason for denying");
  let question = null;
  const answer = (type) => {
    const input = type === "approve" && !edit.hidden ? edit.value : null;
    send({ type, ask: question.ask, reason: type === "deny" ? reason.value : "", input });
    for (const node of box.querySelectorAll("button")) node.disabled = true;
  };
  const approve = button("approve", "Approve", "Run it", () => answer("approve"));
  const change = button("change", "Edit", "Change the arguments first", () => {
    edit.hidden = !edit.hidden;
    approve.textContent = edit.hidden ? "Approve" : "Run as edited";
    if (edit.hidden) return;
    edit.focus();
    row.scrollIntoView({ block: "nearest" });
  });
  const deny = button("deny", "Deny", "Do not run it", () => answer("deny"));
  reason.onkeydown = (event) => {
    if (event.key === "Enter") answer("deny"); // a handler that returns false would swallow the key
  };
  const row = make("div", "row");
  row.append(approve, change, deny, reason);
  box.append(what, edit, problem, row);
  box.show = (asked) => {
    if (asked?.ask === question?.ask) return;
    const again = Boolean(asked?.problem);
    question = asked;
    box.hidden = !asked;
    if (!asked) return;
    fill(what, asked.html);
    edit.value = asked.input;
    edit.setAttribute("aria-label", asked.label);
    edit.hidden = !again;
    edit.rows = Math.min(14, asked.input.split("\n").length + 1);
    problem.textContent = asked.problem;
    reason.value = "";
    approve.textContent = again ? "Run as edited" : "Approve";
    for (const node of box.querySelectorAll("button")) node.disabled = false;
    // A reader who looks at this trace must see the question; one who is elsewhere is not dragged here.
    const place = box.parentElement.getBoundingClientRect();
    if (place.bottom > 0 && place.top < window.innerHeight) box.scrollIntoView({ block: "nearest" });
  };
  box.hidden = true;
  box.kind = "approval";
  return box;
}

function render({ model, el }) {
  const send = (message) => model.send({ ...message, run: model.get("key") });
  const root = make("section", "trace");
  root.setAttribute("aria-label", "Trace of the agent's run");
  const slots = Object.fromEntries(SLOTS.map((name) => [name, make("div", `slot agent-nb-${name}`)]));
  slots.answer.setAttribute("aria-live", "polite");
  // What happens now, without the seconds that change all the time: read out when the step or its tool changes.
  const status = make("div", "status");
  status.setAttribute("role", "status");
  const boxes = [askBox, stepBox, replyBox].map((made) => made(send));
  const stop = button("stop", "■ Stop", "Stop the run; what was found stays", () => {
    send({ type: "stop" });
    stop.disabled = true;
    stop.textContent = "stopping …";
  });
  const bar = make("div", "bar");
  const waits = make("div", "waits", "waits for you");
  waits.hidden = true;
  bar.append(slots.line, waits, stop);
  root.append(...SLOTS.map((name) => (name === "line" ? bar : slots[name])));
  slots.now.after(...boxes);
  root.append(status);
  el.append(root);

  // A memory that the reader wants to see stands below the trace until it is closed.
  const record = make("div", "record");
  record.setAttribute("role", "region");
  record.setAttribute("aria-label", "The chosen memory");
  record.hidden = true;
  record.tabIndex = -1;
  const shut = button("change", "Close", "Close this memory", () => (record.hidden = true));
  const held = make("div");
  record.append(shut, held);
  root.append(record);
  const look = (event) => {
    const id = event.target.closest?.("[data-record]")?.dataset.record;
    if (id && (event.type === "click" || event.key === "Enter")) send({ type: "record", id });
    else if (event.key === "Escape") record.hidden = true;
  };
  root.addEventListener("click", look);
  root.addEventListener("keydown", look);
  const reveal = (html) => {
    fill(held, html);
    record.hidden = false;
    record.scrollIntoView({ block: "nearest" });
  };

  const parts = new Map();
  let queue = [];
  let known = false;

  const put = ({ key, slot, html, age }) => {
    let part = parts.get(key);
    if (!part) {
      part = make("div");
      part.dataset.part = key;
      parts.set(key, part);
      slots[slot].append(part);
    }
    if (part.made !== html) part.changed = performance.now() - age * 1000;
    fill(part, html);
  };
  const drop = (key) => {
    parts.get(key)?.remove();
    parts.delete(key);
  };
  const take = (message) => {
    if (message.full) {
      known = true;
      const keys = new Set(message.ops.map((op) => op.key));
      for (const key of [...parts.keys()]) if (!keys.has(key)) drop(key);
    }
    for (const op of message.ops ?? []) op.op === "put" ? put(op) : drop(op.key);
    if ("ask" in message) {
      for (const box of boxes) box.show(message.ask?.kind === box.kind ? message.ask : null);
      // The line tells by itself that a call waits for approval; of a station or a student it does not know.
      waits.hidden = !["step", "student"].includes(message.ask?.kind);
      slots.line.hidden = !waits.hidden;
    }
    if ("record" in message) reveal(message.record);
  };
  const flush = () => {
    const messages = queue;
    queue = [];
    messages.forEach(take);
    tick(root);
    const line = slots.line.cloneNode(true);
    line.querySelectorAll("[data-since]").forEach((node) => node.remove());
    const now = waits.hidden ? line.textContent.replace(/ · $/, "") : waits.textContent;
    if (status.textContent !== now) status.textContent = now;
  };
  const receive = (message) => {
    if (queue.push(message) > 1) return;
    // A page in the background draws no frames, but must not pile up messages either.
    document.hidden ? setTimeout(flush, 200) : requestAnimationFrame(flush);
  };
  model.on("msg:custom", receive);

  const showButtons = () => (stop.hidden = !model.get("live"));
  model.on("change:live", showButtons);
  showButtons();

  // The first message may leave before the kernel listens, so hello is said until it is answered.
  // Where it never is (no subshell), the kernel sends its state by itself, and there are no buttons.
  let said = 1;
  const hello = setInterval(() => {
    if ((known && model.get("live")) || ++said > HELLOS) clearInterval(hello);
    else send({ type: "hello" });
  }, HELLO_MS);
  send({ type: "hello" });
  const release = keepKeys(root);
  const clock = setInterval(() => tick(root), 200);

  return () => {
    clearInterval(hello);
    clearInterval(clock);
    release();
    model.off("msg:custom", receive);
    model.off("change:live", showButtons);
  };
}

export default () => ({ render });
