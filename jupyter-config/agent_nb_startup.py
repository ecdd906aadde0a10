# Make %%agent, %agent and %memory known to IPython, without importing agent_nb before one of them is used.
#
# Installed under etc/ipython/startup, this runs at the start of every IPython and kernel of the environment, in
# the user's own namespace. It must cost nothing, never fail, and leave no name behind: not even a docstring.


def _agent_nb_startup():
    import re

    from IPython import get_ipython

    shell = get_ipython()
    manager = shell.magics_manager
    if not hasattr(manager, "register_lazy"):
        return
    known = shell.input_transformer_manager.cleanup_transforms
    if "agent_nb" in shell.extension_manager.loaded or any(
        getattr(transform, "__name__", "") == "load_agent_nb" for transform in known
    ):
        return
    free = [name for name in ("agent", "memory") if not any(name in kind for kind in manager.magics.values())]
    if "agent" not in free:
        return
    for name in free:
        manager.register_lazy(name, "agent_nb")
    used = re.compile(r"^\s*(%%agent|%%?({}))(\s|$)".format("|".join(free)), re.M)

    def load_agent_nb(lines):
        # The first cell that uses a magic should reach it as it was typed: ours is loaded before that cell is
        # rewritten, and rewrites it itself.
        if not used.search("".join(lines)):
            return lines
        known[:] = [transform for transform in known if transform is not load_agent_nb]
        if "agent_nb" not in shell.extension_manager.loaded:
            try:
                before = list(known)
                shell.extension_manager.load_extension("agent_nb")
            except Exception:
                return lines  # the placeholder tells what is wrong, when the magic is called
            for transform in known:
                if transform not in before:
                    lines = transform(lines)
        return lines

    load_agent_nb.has_side_effects = True
    known.insert(0, load_agent_nb)


try:
    _agent_nb_startup()
except Exception:
    pass
finally:
    del _agent_nb_startup
