// JupyterLab reads keys at the document, before the page does: "d d" on a summary of ours would delete the cell.
// While a key goes to `root`, Lab is told to leave it alone; keys with Ctrl, Cmd or Alt (save, undo) stay Lab's.
function keepKeys(root) {
  const mark = (event) => {
    const ours = root.contains(event.target) && !(event.ctrlKey || event.metaKey || event.altKey);
    root.toggleAttribute("data-lm-suppress-shortcuts", ours);
  };
  window.addEventListener("keydown", mark, true);
  return () => window.removeEventListener("keydown", mark, true);
}
