// Where a run waits for more than a yes or no: a station of step mode, and the reply of a student.
const STEPS = [
  ["next", "Next", "Go on to the next station (Enter or Space)"],
  ["same", "Next here", "Go on to the next time this station is reached"],
  ["on", "Run on", "Go on to the end without waiting"],
  ["stop", "■ Stop", "Stop the run; what was found stays (Esc)"],
];

function gateBox(className, label) {
  const box = make("div", "gate");
  box.classList.add(`agent-nb-${className}`);
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label);
  box.hidden = true;
  return box;
}

// The keyboard goes where the answer is given, unless its reader is writing somewhere else.
function takeFocus(node) {
  const at = document.activeElement;
  const writing = at?.closest?.("input, textarea, select, [contenteditable=true], .cm-editor");
  if (!writing || !writing.isConnected || writing.closest(".agent-nb-trace")) node.focus({ preventScroll: true });
}

function inView(box) {
  const place = box.parentElement.getBoundingClientRect();
  if (place.bottom > 0 && place.top < window.innerHeight) box.scrollIntoView({ block: "nearest" });
}

function stepBox(send) {
  const box = gateBox("step", "The run waits at a station");
  const title = make("div", "title");
  title.setAttribute("aria-live", "polite");
  const what = make("div", "what");
  const row = make("div", "row");
  let question = null;
  let answered = "";
  const answer = (type) => {
    if (!question || answered === question.ask) return;
    send({ type, ask: (answered = question.ask) });
    row.classList.add("agent-nb-sent"); // not disabled: that would take the keyboard away from them
  };
  for (const [type, text, help] of STEPS) {
    row.append(button(type === "next" ? "approve" : type === "stop" ? "stop" : "change", text, help, () => answer(type)));
  }
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") answer("stop");
    else if (event.target !== box || (event.key !== "Enter" && event.key !== " ")) return;
    else answer("next");
    event.preventDefault();
  });
  box.tabIndex = -1;
  box.append(title, row, what);
  box.kind = "step";
  box.show = (asked) => {
    if (asked?.ask === question?.ask) return;
    question = asked;
    if (!asked) {
      // Between two moments the box stays, so that nothing below it jumps; the last one goes.
      box.gone = setTimeout(() => (box.hidden = true), 400);
      return;
    }
    clearTimeout(box.gone);
    box.hidden = false;
    title.textContent = `${asked.number} · ${asked.station} · ${asked.title}`;
    row.children[1].textContent = `Next ${asked.station}`;
    fill(what, asked.html);
    what.scrollTop = 0;
    row.classList.remove("agent-nb-sent");
    inView(box);
    takeFocus(row.firstChild);
  };
  return box;
}

function callForm(tools, onDrop) {
  const form = make("fieldset", "call");
  const pick = document.createElement("select");
  pick.setAttribute("aria-label", "Tool");
  for (const tool of tools) pick.append(new Option(tool.name, tool.name));
  pick.append(new Option("another name …", ""));
  const name = make("input", "name");
  name.placeholder = "name of a tool";
  name.setAttribute("aria-label", "Name of the tool");
  const about = make("div", "about");
  const rows = make("div", "fields");
  const asJson = document.createElement("input");
  asJson.type = "checkbox";
  const label = make("label", "raw");
  label.append(asJson, " arguments as JSON, as they are");
  const json = make("textarea", "edit");
  json.spellcheck = false;
  json.setAttribute("aria-label", "Arguments as JSON");
  json.rows = 3;
  json.value = "{}";
  const fields = () => [...rows.querySelectorAll("[data-field]")].map((node) => [node.dataset.field, node.value]);
  const draw = () => {
    const tool = tools.find((each) => each.name === pick.value);
    name.hidden = Boolean(tool);
    if (!tool) asJson.checked = true;
    asJson.disabled = !tool;
    about.textContent = tool?.description ?? "";
    rows.hidden = asJson.checked;
    json.hidden = !asJson.checked;
  };
  const fresh = () => {
    const tool = tools.find((each) => each.name === pick.value);
    asJson.checked = false;
    rows.replaceChildren(
      ...(tool?.fields ?? []).map((field) => {
        const line = make("label", "field");
        const value = make(field.type === "string" && !field.choices.length ? "textarea" : "input", "edit");
        if (value.rows) value.rows = 1;
        value.dataset.field = field.name;
        value.placeholder = field.choices.join(" | ") || (field.default ? `default ${field.default}` : "");
        value.title = field.description;
        line.append(`${field.name}${field.required ? " *" : ""}`, make("span", "type", field.type), value);
        return line;
      })
    );
    draw();
  };
  pick.onchange = fresh;
  asJson.onchange = draw;
  const drop = button("change", "Remove", "Remove this call", () => onDrop(form));
  const top = make("div", "row");
  top.append(pick, name, label, drop);
  form.append(top, about, rows, json);
  form.value = () => ({
    name: pick.value || name.value,
    raw: asJson.checked ? json.value : null,
    fields: Object.fromEntries(fields()),
  });
  fresh();
  return form;
}

function replyBox(send) {
  const box = gateBox("reply", "You are the model: write the reply");
  const title = make("div", "title", "You are the model. Read the request, then answer or call a tool.");
  const what = make("div", "what");
  const text = make("textarea", "edit");
  text.rows = 2;
  text.placeholder = "an answer, or what you think before a call";
  text.setAttribute("aria-label", "Text of your reply");
  const calls = make("div", "calls");
  const problem = make("div", "problem");
  problem.setAttribute("role", "alert");
  let question = null;
  const told = () => {
    const n = calls.children.length;
    reply.textContent = n ? `Send ${n} ${n === 1 ? "call" : "calls"}` : "Send the answer";
  };
  const add = button("change", "Call a tool", "Add a tool call to the reply", () => {
    const form = callForm(question.tools, (gone) => (gone.remove(), told(), text.focus()));
    calls.append(form);
    told();
    form.querySelector("select").focus();
  });
  const reply = button("approve", "Send the answer", "Give this to the agent as the model's reply", () => {
    send({ type: "reply", ask: question.ask, text: text.value, calls: [...calls.children].map((c) => c.value()) });
    for (const node of [add, reply]) node.disabled = true;
  });
  const row = make("div", "row");
  row.append(reply, add);
  box.append(title, what, text, calls, problem, row);
  box.kind = "student";
  box.show = (asked) => {
    if (asked?.ask === question?.ask) return;
    question = asked;
    box.hidden = !asked;
    if (!asked) return;
    fill(what, asked.html);
    what.scrollTop = what.scrollHeight;
    text.value = "";
    calls.replaceChildren();
    problem.textContent = asked.problem;
    for (const node of [add, reply]) node.disabled = false;
    told();
    inView(box);
    takeFocus(text);
  };
  return box;
}
