// JupyterLab reads the keys that the page gets: "d d" on a summary of ours would delete the cell. While a key goes
// to `root`, Lab is told to leave it alone; keys with Ctrl, Cmd or Alt (save, undo) stay Lab's. The mark must stand on
// the very node that has the keyboard: Lab's selectors end in :focus, and it looks there first.
function keepKeys(root) {
  const mark = (event) => {
    const ours = !(event.ctrlKey || event.metaKey || event.altKey);
    if (root.contains(event.target)) event.target.toggleAttribute("data-lm-suppress-shortcuts", ours);
  };
  window.addEventListener("keydown", mark, true);
  return () => window.removeEventListener("keydown", mark, true);
}
