// The memory inspector. The cell's output is a saved page; this puts a live one in its place while the kernel is
// there. The kernel searches and draws (escaped HTML); rows of the list come as plain values and are set as text.
// Messages: {type, seq, key, …} → {type, seq, … | error}. An answer to anything but the last question is dropped.
const PAGE = 50;
const ROW = 46;
const TALLEST = 15_000_000; // what every browser scrolls
const TYPED_MS = 90;
const PATIENCE_MS = 6000;
const TYPES = ["constraint", "preference", "profile", "fact", "decision", "experience", "episode"];
const AGES = [["", "any age"], ["1", "today"], ["7", "a week"], ["30", "a month"], ["90", "three months"], ["365", "a year"]];
const STATES = ["active", "pending", "superseded", "revoked"];
const SCOPES = [["", "own and team"], ["own", "own"], ["team", "team"]];

const make = (tag, className, text) => {
  const node = document.createElement(tag);
  if (className) node.className = className.split(" ").map((name) => `agent-nb-${name}`).join(" ");
  if (text !== undefined) node.textContent = text;
  return node;
};

const button = (text, onclick, className = "") => {
  const node = make("button", className, text);
  node.type = "button";
  node.onclick = onclick;
  return node;
};

const choice = (label, options, onchange) => {
  const node = make("select");
  node.setAttribute("aria-label", label);
  for (const [value, text] of options) node.append(new Option(text, value));
  node.onchange = onchange;
  return node;
};

const debounced = (work, ms) => {
  let timer;
  return () => (clearTimeout(timer), (timer = setTimeout(work, ms)));
};

// HTML of the kernel; what can be opened in it can be reached by key, too.
function fill(node, html) {
  node.innerHTML = html;
  for (const each of node.querySelectorAll("[data-record], [data-entity]")) {
    each.setAttribute("tabindex", "0");
    each.setAttribute("role", "button");
    const { record, entity } = each.dataset;
    each.setAttribute("aria-label", record ? `open memory ${record}` : `what is linked to ${entity}`);
  }
}

// What is asked of the kernel, one open question of each type.
function line(model, status) {
  const open = new Map();
  let seq = 0;
  const receive = (message) => {
    const asked = open.get(message.type);
    if (!asked || asked.seq !== message.seq) return;
    open.delete(message.type);
    clearTimeout(asked.timer);
    status(message.error ?? "", Boolean(message.error));
    if (!message.error) asked.done(message);
  };
  model.on("msg:custom", receive);
  const ask = (type, fields, done) => {
    clearTimeout(open.get(type)?.timer);
    const message = { ...fields, type, seq: ++seq, key: model.get("key") };
    const late = () => status("The kernel does not answer: it is busy, or was restarted. Then run the cell again.", true);
    open.set(type, { seq, done, timer: setTimeout(late, PATIENCE_MS) });
    model.send(message);
  };
  return { ask, close: () => model.off("msg:custom", receive) };
}

// -- the list: as many rows as can be seen, however many there are ---------------------------------------------

function listBox(ask, opened, counted) {
  const box = make("div", "list");
  const rows = make("div", "rows");
  box.tabIndex = 0;
  box.setAttribute("role", "listbox");
  box.setAttribute("aria-label", "Memories, the newest first; arrow keys move, Enter opens");
  box.append(rows);
  let wanted = {};
  let known = new Map(); // place → row
  let total = 0;
  let at = -1;
  let version = 0;
  const shown = new Map(); // place → node

  const first = () => Math.floor(box.scrollTop / ROW);
  const visible = () => Math.ceil((box.clientHeight || 360) / ROW) + 1;

  const node = (place) => {
    const row = known.get(place);
    const line = make("div", `row${place === at ? " here" : ""}`);
    line.style.top = `${place * ROW}px`;
    line.setAttribute("role", "option");
    line.setAttribute("aria-selected", String(place === at));
    line.setAttribute("aria-posinset", String(place + 1));
    line.setAttribute("aria-setsize", String(total));
    line.id = `${box.id}-${place}`;
    if (!row) {
      line.append(make("div", "text", "…"));
      return line;
    }
    const text = make("div", "text", row.text);
    text.dir = "auto";
    const about = make("div", "about");
    about.append(make("span", `dot is-${row.status}`, "● "));
    const told = [row.type, row.status === "active" ? "" : row.status, row.scope, row.day, row.hits ? `used ${row.hits}×` : ""];
    about.append(told.filter(Boolean).join(" · "));
    line.append(text, about);
    line.onclick = () => select(place, true);
    return line;
  };

  const draw = () => {
    const from = Math.max(0, first() - 4);
    const to = Math.min(total, first() + visible() + 4);
    for (const [place, each] of shown) if (place < from || place >= to) each.remove(), shown.delete(place);
    for (let place = from; place < to; place++) {
      const old = shown.get(place);
      const fresh = node(place);
      old ? old.replaceWith(fresh) : rows.append(fresh);
      shown.set(place, fresh);
    }
    at >= 0 ? box.setAttribute("aria-activedescendant", `${box.id}-${at}`) : box.removeAttribute("aria-activedescendant");
  };

  const load = (page, done) => {
    const mine = version;
    ask("find", { ...wanted, from: page * PAGE, count: PAGE }, (message) => {
      if (mine !== version) return;
      total = message.total;
      rows.style.height = `${Math.min(total * ROW, TALLEST)}px`;
      message.rows.forEach((row, i) => known.set(message.from + i, row));
      counted(message);
      draw();
      done?.();
      if (!done) need();
    });
  };
  const need = () => {
    const last = Math.min(total, first() + visible()) - 1;
    for (let place = first(); place <= last; place++) {
      if (!known.has(place)) return load(Math.floor(place / PAGE));
    }
  };
  const needSoon = debounced(need, 40);
  box.onscroll = () => (draw(), needSoon());

  const select = (place, open, focus = false) => {
    if (!total) return;
    at = Math.max(0, Math.min(total - 1, place));
    const top = at * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
    draw();
    needSoon();
    if (open && known.has(at)) opened(known.get(at).id, focus);
  };
  box.onkeydown = (event) => {
    const page = visible() - 2;
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: total - 1 };
    if (event.key in moves) select(moves[event.key], false);
    else if (event.key === "Enter" && at >= 0) select(at, true, true);
    else return;
    event.preventDefault();
  };

  return {
    box,
    // The same list anew after a change, or another one.
    show: (fields, anew) => {
      [wanted, version, known] = [fields, version + 1, new Map()];
      if (anew) [at, box.scrollTop] = [-1, 0];
      load(Math.floor(first() / PAGE), need);
    },
    select,
  };
}

// -- one record: what it says, and what can be done to it ---------------------------------------------------------

function card(ask, changed, back) {
  const box = make("div", "card");
  const body = make("div", "body");
  const tools = make("div", "tools");
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "The chosen memory");
  box.tabIndex = -1;
  box.append(tools, body);
  let id = "";

  const empty = () => {
    id = "";
    tools.replaceChildren();
    body.replaceChildren(make("div", "hint", "Choose a memory: its text, where it came from, and its history stand here."));
  };
  const offer = (message) => {
    const nodes = [];
    const can = new Set(message.can);
    if (can.has("edit")) nodes.push(button("Edit", () => edit(message)));
    if (can.has("forget")) nodes.push(button("Forget", () => confirm(message)));
    if (can.has("resolve")) for (const verdict of ["keep", "drop", "both"]) nodes.push(verdictButton(ask, message.id, verdict, changed));
    if (can.has("undo")) nodes.push(button("Undo", () => ask("undo", { id: message.id }, changed)));
    tools.replaceChildren(...nodes);
  };
  const edit = (message) => {
    const area = make("textarea", "edit");
    area.value = message.text;
    area.rows = Math.min(10, Math.ceil(message.text.length / 50) + 1);
    area.setAttribute("aria-label", "The new text of this memory");
    const cancel = () => (offer(message), tools.querySelector("button")?.focus());
    const save = () => ask("edit", { id: message.id, text: area.value }, changed);
    area.onkeydown = (event) => {
      if (event.key === "Escape") cancel();
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    const row = make("div", "tools");
    row.append(button("Save", save, "sure"), button("Cancel", cancel), make("span", "hint", "Ctrl+Enter saves, Escape leaves it as it was"));
    tools.replaceChildren(area, row);
    area.focus();
  };
  const confirm = (message) => {
    const keep = button("Keep it", () => (offer(message), tools.querySelectorAll("button")[1]?.focus()));
    const yes = button("Yes, forget", () => ask("forget", { id: message.id }, changed), "bad");
    const words = make("span", "", "Never recall this again? Its text stays in the history.");
    tools.replaceChildren(words, yes, keep);
    tools.onkeydown = (event) => {
      if (event.key !== "Escape" || !keep.isConnected) return;
      event.stopPropagation();
      keep.onclick();
    };
    keep.focus();
  };
  box.onkeydown = (event) => {
    if (event.key === "Escape") back();
  };
  const open = (wanted, focus) =>
    ask("open", { id: wanted }, (message) => {
      id = message.id;
      offer(message);
      fill(body, message.html);
      body.scrollTop = 0;
      if (focus) box.focus({ preventScroll: true });
    });
  empty();
  return { box, open, current: () => id };
}

const VERDICTS = { keep: ["Keep the new one", "it takes the place of the other"], drop: ["Drop the new one", "the other stays"], both: ["Both hold", "both stay"] };

function verdictButton(ask, id, verdict, changed) {
  const node = button(VERDICTS[verdict][0], () => ask("resolve", { id, verdict }, changed));
  node.title = VERDICTS[verdict][1];
  return node;
}

// -- the other tabs -------------------------------------------------------------------------------------------------

function asked(label, placeholder, buttons) {
  const box = make("div", "pane");
  const form = make("div", "bar");
  const field = make("input", "field");
  field.placeholder = placeholder;
  field.setAttribute("aria-label", label);
  const out = make("div", "out");
  out.setAttribute("aria-live", "polite");
  const nodes = buttons.map(([text, work, className]) => button(text, () => work(field.value, out), className));
  field.onkeydown = (event) => {
    if (event.key === "Enter") nodes[0].click(); // a handler that returns false would swallow the key
  };
  form.append(field, ...nodes);
  box.append(form, out);
  return { box, field, out };
}

function conflictsPane(ask, changed) {
  const box = make("div", "pane");
  const show = () =>
    ask("conflicts", {}, (message) => {
      const nodes = message.rows.map((row) => {
        const each = make("div", "conflict");
        const body = make("div");
        fill(body, row.html);
        const tools = make("div", "tools");
        if (row.mine) tools.append(...["keep", "drop", "both"].map((v) => verdictButton(ask, row.id, v, changed)));
        each.append(body, tools);
        return each;
      });
      if (!nodes.length) nodes.push(make("div", "hint", "Nothing is contradicted."));
      if (message.more) nodes.push(make("div", "hint", `${message.more} more follow when these are settled.`));
      box.replaceChildren(...nodes);
    });
  return { box, show };
}

// -- the whole ------------------------------------------------------------------------------------------------------

let number = 0;

function build(model) {
  const root = make("section", "inspector");
  root.setAttribute("aria-label", "Memory inspector");
  // JupyterLab's own keys ("d d" deletes a cell) must not act on what is typed here; it looks at what has the focus.
  root.addEventListener("focusin", (event) => (event.target.dataset.lmSuppressShortcuts = "true"));
  const status = make("div", "status");
  status.setAttribute("role", "status");
  const say = (text, bad = false) => {
    status.textContent = text;
    status.classList.toggle("agent-nb-bad", bad);
  };
  const { ask, close } = line(model, (text, bad) => (bad || status.classList.contains("agent-nb-bad")) && say(text, bad));

  const changed = (message) => {
    search(false);
    if (panes.conflicts.open) conflicts.show();
    record.open(message.changed);
    say(message.said);
    status.append(" ", button("Undo", () => ask("undo", { id: message.changed }, changed)));
    if (/^Taken back/.test(message.said)) status.lastChild.remove();
  };
  const count = make("span", "count");
  const counted = ({ total, of, ms, pending, team }) => {
    const n = (value) => value.toLocaleString("en");
    count.textContent = total === of ? `${n(of)} memories` : `${n(total)} of ${n(of)}`;
    count.title = `${ms} ms`;
    scope.hidden = !team;
    panes.conflicts.tab.textContent = pending ? `Conflicts (${n(pending)})` : "Conflicts";
  };
  const list = listBox(ask, (id, focus) => record.open(id, focus), counted);
  list.box.id = `agent-nb-list-${++number}`;
  const record = card(ask, changed, () => list.box.focus());

  const field = make("input", "field");
  field.type = "search";
  field.placeholder = "search: words, or an id";
  field.setAttribute("aria-label", "Search memories");
  const search = (anew = true) =>
    list.show({ text: field.value, kind: type.value, status: state.value, scope: scope.value, days: age.value }, anew);
  field.oninput = debounced(() => search(), TYPED_MS);
  field.onkeydown = (event) => {
    if (event.key === "ArrowDown" || event.key === "Enter") (list.box.focus(), list.select(0, event.key === "Enter"));
    else if (event.key === "Escape" && field.value) ((field.value = ""), search());
    else return;
    event.preventDefault();
  };
  const again = () => search();
  const type = choice("Type", [["", "all types"], ...TYPES.map((t) => [t, t])], again);
  const state = choice("Status", [["", "any status"], ...STATES.map((s) => [s, s])], again);
  const scope = choice("Whose", SCOPES, again);
  const age = choice("Age", AGES, again);
  scope.hidden = true;
  state.value = "active";
  const bar = make("div", "bar");
  bar.append(field, type, state, scope, age, count);
  const records = make("div", "pane");
  const both = make("div", "both");
  both.append(list.box, record.box);
  records.append(bar, both);

  const draws = (type) => (text, out) => text.trim() ? ask(type, { text }, (message) => fill(out, message.html)) : field.focus();
  const recall = asked("A question to recall for", "a question: what would it recall?", [
    ["Recall", draws("recall"), "sure"],
    ["Why not?", draws("why")],
  ]);
  const related = (text, out) => ask("graph", { text }, (message) => fill(out, message.html));
  const graph = asked("An entity", "an entity, or nothing for all", [["Draw", related, "sure"]]);
  const conflicts = conflictsPane(ask, changed);

  const tabs = make("div", "tabs");
  tabs.setAttribute("role", "tablist");
  const panes = {};
  const show = (name) => {
    for (const [each, pane] of Object.entries(panes)) {
      pane.open = each === name;
      pane.box.hidden = !pane.open;
      pane.tab.setAttribute("aria-selected", String(pane.open));
      pane.tab.tabIndex = pane.open ? 0 : -1;
    }
    panes[name].begin?.();
  };
  const add = (name, label, box, begin) => {
    const tab = button(label, () => show(name), "tab");
    tab.setAttribute("role", "tab");
    box.setAttribute("role", "tabpanel");
    box.setAttribute("aria-label", label);
    panes[name] = { tab, box, begin, open: false };
    tabs.append(tab);
  };
  add("records", "Memories", records);
  add("recall", "Recall", recall.box, () => recall.field.focus());
  add("graph", "Relations", graph.box, () => graph.out.firstChild || related("", graph.out));
  add("conflicts", "Conflicts", conflicts.box, conflicts.show);
  tabs.onkeydown = (event) => {
    const names = Object.keys(panes);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = names[(names.findIndex((name) => panes[name].open) + step + names.length) % names.length];
    show(next);
    panes[next].tab.focus();
    event.preventDefault();
  };

  const activate = (event) => {
    const node = event.target.closest?.("[data-record], [data-entity]");
    if (!node || (event.type === "keydown" && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    const { record: id, entity } = node.dataset;
    if (id) (show("records"), record.open(id, true));
    else ((graph.field.value = entity), related(entity, graph.out));
  };
  root.addEventListener("click", activate);
  root.addEventListener("keydown", activate);
  root.append(tabs, records, recall.box, graph.box, conflicts.box, status);
  show("records");
  const start = model.get("start") ?? {};
  field.value = start.text ?? "";
  search();
  if (start.id) record.open(start.id);
  const release = keepKeys(root);
  return { root, close: () => (release(), close()) };
}

// The saved page is looked for until it stands, and again where it is drawn anew.
function initialize({ model }) {
  const { root, close } = build(model);
  let place = null;
  let saved = [];
  const mount = () => {
    if (place?.isConnected && place.contains(root)) return;
    const found = document.querySelector(`[data-inspector="${model.get("key")}"]`);
    if (!found || found.contains(root)) return;
    [place, saved] = [found, [...found.childNodes]];
    found.replaceChildren(root);
  };
  const clock = setInterval(mount, 250);
  mount();
  const end = () => {
    clearInterval(clock);
    close();
    if (place?.contains(root)) place.replaceChildren(...saved);
  };
  model.on("destroy", end);
  model.on("comm:close", end);
  return end;
}

// Where outputs stand apart from each other, the widget is shown by itself.
function render({ model, el }) {
  const { root, close } = build(model);
  el.append(root);
  return close;
}

export default () => ({ initialize, render });
