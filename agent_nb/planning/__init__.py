"""Planners, reflection and drift: what the plan and judge stations call.

react (no plan, no extra call), plan (make one and walk it), hybrid (make one, and anew when it fails), auto (by
the kind of goal). Start reading at `stations.py`; the tree itself is `tree.py`.
"""
