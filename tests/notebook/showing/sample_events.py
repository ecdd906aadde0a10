"""One realistic run as a list of events, and small variations of it, for the tests of what a person sees."""

import base64
import struct
import zlib

from agent_nb import evidence
from agent_nb.events import (
    Acted,
    Answered,
    ApprovalAsked,
    ApprovalGiven,
    CallFailed,
    CallStarted,
    Consolidated,
    Judged,
    Loaded,
    Noticed,
    Observed,
    Planned,
    RunEnded,
    RunStarted,
    Streamed,
    ToolFinished,
    ToolStarted,
)

RUN = "r1"
GOAL = "Which airline's departure delay rose most from June to July 2013, and where?"
ANSWER = """\
I am rules, not a language model.

**Virgin America (VX)** rose most: from 28.41 to 35.26 minutes, +6.85.

| route | June | July |
| --- | ---: | ---: |
| JFK → LAX | 29.10 | 41.80 |
| EWR → SFO | 27.55 | 30.02 |

- The rise stands at *JFK*, on the route to `LAX`.
- Weather explains about 40 % of it.
"""
LIMITS = {"steps": 12, "tokens": 100_000, "cost": None, "seconds": 600.0, "tools": None}
WINDOW = [
    {"part": "system", "tokens": 420},
    {"part": "memory", "tokens": 61},
    {"part": "tools", "tokens": 1_210},
    {"part": "earlier turns", "tokens": 610},
    {"part": "this turn", "tokens": 1_540},
]
SQL = """\
SELECT carrier, avg(dep_delay) FILTER (month = 6) AS june,
       avg(dep_delay) FILTER (month = 7) AS july
FROM flights WHERE month IN (6, 7) AND dep_delay IS NOT NULL
GROUP BY carrier ORDER BY july - june DESC"""


def png(width=320, height=120):
    """A real PNG, a slope from blue to orange, as base64 text."""
    rows = b"".join(
        b"\0" + bytes(v for x in range(width) for v in (255 * x // width, 140, 255 - 255 * x // width))
        for _ in range(height)
    )

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def observation(id, name, text='{"ok":true,"value":1}', ok=True, **more):
    """task.Observation as a dict."""
    seen = {"id": id, "name": name, "input": {}, "ok": ok, "content": [{"type": "text", "text": text}]}
    seen |= {
        "value_name": "",
        "columns": [],
        "rows": [],
        "total_rows": None,
        "artifacts": [],
        "effect": "read",
    }
    return seen | {"ms": 42.3, "cached": False, "keys": {}, "kind": ""} | more


def hits():
    return [
        {
            "id": "m1",
            "text": "delays are departure delays, cancelled flights left out",
            "type": "preference",
            "source": "user_explicit",
            "created": "2026-08-03T10:00:00+00:00",
            "score": 0.71,
            "similarity": 0.82,
            "importance": 0.64,
            "freshness": 0.55,
            "reason": "both",
        },
        {
            "id": "m2",
            "text": "works for the airport's operations team",
            "type": "profile",
            "source": "user_explicit",
            "created": "2026-07-11T10:00:00+00:00",
            "score": 0.52,
            "similarity": 0.44,
            "importance": 0.50,
            "freshness": 0.78,
            "reason": "embedding",
        },
    ]


def gates():
    return [
        {"name": "query", "entered": 1, "left": 1, "why": "“which” dropped; synonyms: delay → dep_delay"},
        {"name": "candidates", "entered": 41, "left": 38, "why": "lexical 21, embedding 30, both 13"},
        {"name": "score", "entered": 38, "left": 9, "why": "29 under .35; best of them .33"},
        {"name": "budget", "entered": 9, "left": 2, "why": "61 of 600 tokens; 7 beyond k = 2"},
    ]


def _step(number, text, calls, finished=(), asked=(), tokens=310):
    mark = {"run": RUN, "step": number}
    content = [{"type": "text", "text": text}]
    content += [{"type": "tool_use", "id": i, "name": n, "input": arg} for i, n, arg in calls]
    events = [CallStarted(**mark, window=WINDOW, left_out=["2 earlier turns of this session"])]
    events += [Streamed(**mark, kind="text", text=text[at : at + 9]) for at in range(0, len(text), 9)]
    events.append(
        Acted(
            **mark,
            message={"role": "assistant", "content": content},
            calls=[{"id": i, "name": n, "input": arg} for i, n, arg in calls],
            stop_reason="tool_use" if calls else "end_turn",
            usage={"input_tokens": tokens - 60, "output_tokens": 60},
            ms=180.0,
        )
    )
    for (id, name, arg), seen in zip(calls, finished, strict=True):
        events.append(ToolStarted(**mark, id=id, name=name, input=arg, effect="write" if asked else "read"))
        events += asked
        events.append(ToolFinished(**mark, id=id, name=name, observation=seen | {"input": arg}))
    results = [{"type": "tool_result", "tool_use_id": i, "content": []} for i, _, _ in calls]
    if calls:
        events.append(Observed(**mark, message={"role": "user", "content": results}))
    valves = {"steps": [number, 12], "tokens": [number * tokens, 100_000], "cost": [None, None]}
    valves["seconds"] = [0.7 * number, 600.0]
    events.append(Judged(**mark, verdict="go_on" if calls else "done", valves=valves))
    return events


def sample(answer=ANSWER, goal=GOAL):
    """A run of five steps: two queries, a denied call, a failed one, a chart, the answer, memory."""
    columns = ["carrier", "june", "july", "change"]
    rows = [["VX", 28.41, 35.26, 6.85], ["B6", 20.39, 24.9, 4.51], ["9E", None, 31.0, None]]
    table = '{"ok":true,"columns":["carrier","june","july"],"rows":[["VX",28.41,35.26]],"total_rows":16}'
    routes = '{"ok":true,"rows":[["JFK","LAX",29.10,41.80],["EWR","SFO",27.55,30.02]],"total_rows":6}'
    asked = [
        ApprovalAsked(run=RUN, step=3, id="t3", name="run_python", input={"code": "open('x','w')"}),
        ApprovalGiven(run=RUN, step=3, id="t3", verdict="deny", by="widget", reason="no files, please"),
    ]
    seen = [("goal", goal), ("_r1 query_sql", table), ("_r2 query_sql", routes)]
    evidence_rows = [number.to_dict() for number in evidence.trace(answer, seen)]
    started = RunStarted(
        run=RUN,
        goal=goal,
        message={"role": "user", "content": [{"type": "text", "text": goal}]},
        session="flights",
        model="offline",
        model_reason="no credentials found; rules, not a language model",
        limits=LIMITS,
        tools=["query_sql", "draw_chart"],
        user="ana",
    )
    first = {"query": SQL}
    return [
        started,
        Loaded(run=RUN, query=goal, hits=hits(), gates=gates(), total=41, tokens=61, ms=1.1),
        Planned(
            run=RUN, planner="react", subtasks=[{"id": "1", "text": goal, "status": "pending", "needs": []}]
        ),
        *_step(
            1,
            "The table `flights` has the measure `dep_delay` and the dimension `carrier`; compare the months.",
            [("t1", "query_sql", first)],
            [
                observation(
                    "t1", "query_sql", table, columns=columns, rows=rows, total_rows=16, value_name="_r1"
                )
            ],
        ),
        CallFailed(run=RUN, step=2, error="ModelUnavailable: overloaded", attempt=1, wait_s=0.5),
        *_step(
            2,
            "Drill down: VX by origin and destination.",
            [("t2", "query_sql", {"query": "SELECT origin, dest, avg(dep_delay) FROM flights GROUP BY ALL"})],
            [
                observation(
                    "t2",
                    "query_sql",
                    routes,
                    columns=["origin", "dest", "june", "july"],
                    rows=[["JFK", "LAX", 29.10, 41.80], ["EWR", "SFO", 27.55, 30.02]],
                    total_rows=6,
                    value_name="_r2",
                    ms=18.0,
                )
            ],
        ),
        *_step(
            3,
            "Save the table to a file.",
            [("t3", "run_python", {"code": "open('x','w').write(_r1.to_csv())"})],
            [observation("t3", "run_python", '{"ok":false,"error":"denied"}', ok=False, kind="denied")],
            asked,
        ),
        *_step(
            4,
            "",
            [
                ("t4", "query_sql", {"query": "SELECT humidity FROM flights"}),
                ("t5", "draw_chart", {"kind": "bar", "data": "_r1", "x": "carrier", "y": "change"}),
            ],
            [
                observation(
                    "t4",
                    "query_sql",
                    '{"ok":false,"error":"no column humidity in flights","field":"query","expected":"a column"}',
                    ok=False,
                    kind="failed",
                ),
                observation(
                    "t5",
                    "draw_chart",
                    '{"ok":true,"chart":"bar","title":"Change by carrier","points":16,"name":"_r3"}',
                    value_name="_r3",
                    artifacts=[{"mime": "image/png", "data": png(), "name": "Change by carrier"}],
                    ms=120.0,
                ),
            ],
        ),
        Noticed(run=RUN, step=5, text="the reply was empty; asked again"),
        *_step(5, answer, []),
        Answered(run=RUN, step=5, text=answer, evidence=evidence_rows),
        Consolidated(
            run=RUN,
            step=5,
            written=[
                {
                    "id": "m42",
                    "text": "June → July 2013: VX rose most, +6.85 min",
                    "type": "decision",
                    "source": "task",
                    "action": "added",
                }
            ],
            left_out=[
                {"text": "Weather explains about 40 %", "reason": "no evidence"},
                {"text": "16 monthly means", "reason": "transient"},
            ],
            ms=3.0,
        ),
        RunEnded(
            run=RUN,
            step=5,
            stop_reason="done",
            done=True,
            usage={"input": 1250, "output": 300, "cache_read": 0, "cache_write": 0, "calls": 5, "cost": None},
            seconds=2.8,
        ),
    ]
