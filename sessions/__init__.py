"""The session store: every run, its evidence and its cost, in one SQLite file.

The app opens it after the first paint.  Importing this package must stay cheap: sqlite-utils is
imported only when a schema has to be made or migrated.  It must never delete anything without a request.

    with open_store(path) as store:
        session = store.begin_session("softmax by hand", environment={"triton": "3.9.0"})
        run = store.begin_run(session, candidate, device="cpu", target="sm_90", tiers=(Tier.SMOKE,), path=file)
        async for event in evaluate(candidate, plan):
            store.record(run, event)
"""

from sessions.errors import (
    StoreDamagedError,
    StoreFullError,
    StoreLockedError,
    StorePathError,
    StoreReadOnlyError,
    StoreVersionError,
)
from sessions.queries.browsing import Browser
from sessions.queries.reading import Reader
from sessions.rows import (
    Answer,
    BaselineRow,
    BestBenchmark,
    ListedRun,
    Milestone,
    ProblemSummary,
    RecentFile,
    Result,
    RunFilter,
    RunKey,
    RunRow,
    RunState,
    SessionRow,
    Totals,
)
from sessions.store import Store, open_memory_store, open_store
from sessions.writing.deleting import Deleted

__all__ = [
    "Answer",
    "BaselineRow",
    "BestBenchmark",
    "Browser",
    "Deleted",
    "ListedRun",
    "Milestone",
    "ProblemSummary",
    "Reader",
    "RecentFile",
    "Result",
    "RunFilter",
    "RunKey",
    "RunRow",
    "RunState",
    "SessionRow",
    "Store",
    "StoreDamagedError",
    "StoreFullError",
    "StoreLockedError",
    "StorePathError",
    "StoreReadOnlyError",
    "StoreVersionError",
    "Totals",
    "open_memory_store",
    "open_store",
]
