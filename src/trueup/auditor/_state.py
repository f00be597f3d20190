"""The state of the bets: made, grown when groups come, copied."""

import numpy as np

from trueup._kernels import _audit as kernels

N_LEVELS = 3  # halves, quarters, eighths
OF_SPREAD, OF_LEVEL, OF_GROUPS = 0.1, 0.1, 0.2  # shares of the money; the rest is on all rounds


def fresh_state(classes: int, groups: int | None) -> kernels.State:
    """Return bets that have not begun, with room for groups (None: there will be none)."""
    cells = kernels.GROUPS + (groups or 0)
    x, a, j = classes, kernels.N_ACCOUNTS, kernels.N_RATES
    wealth = np.zeros((x, a, cells, 2, j))
    wealth[:, 0] = 1 / (2 * j)
    leaves = 1 << (cells - 1).bit_length()
    of_groups = 0.0 if groups is None else OF_GROUPS
    mass = np.empty(cells)
    mass[kernels.ALL] = 1 - OF_SPREAD - N_LEVELS * OF_LEVEL - of_groups
    mass[kernels.SPREAD] = OF_SPREAD
    for first in (kernels.HALVES, kernels.QUARTERS, kernels.EIGHTHS):
        mass[first : 2 * first] = OF_LEVEL / first
    k = np.arange(cells - kernels.GROUPS)
    mass[kernels.GROUPS :] = of_groups / ((k + 1) * (k + 2))  # sums to of_groups (1 - 1 / (n + 1))
    run = (2, j)
    state = kernels.State(
        active=np.zeros(1, dtype=np.int64),
        head=np.zeros((x, kernels.WHOLE), dtype=np.int64),
        due=np.tile([np.inf, -np.inf], (x, 1)),
        wealth=wealth,
        held=wealth.sum(axis=-1),
        power=np.zeros((x, a, cells, 2), dtype=np.int64),
        block=np.zeros((x, cells, 2, j)),
        entered=np.zeros((x, cells), dtype=np.int64),
        most=np.ones((x, cells)),
        visits=np.zeros((x, cells), dtype=np.int64),
        touched=np.zeros((x, cells), dtype=np.int64),
        tree=np.zeros((x, a, 2 * leaves)),
        top=np.zeros((x, a), dtype=np.int64),
        mass=mass,
        cash=np.array([of_groups / (k.size + 1)]),
        run=np.full(run, -np.inf),
        run_from=np.zeros(run, dtype=np.int64),
        run_time=np.zeros(run),
        best=np.full(run, -np.inf),
        best_from=np.zeros(run, dtype=np.int64),
        best_time=np.zeros(run),
        best_to=np.zeros(run, dtype=np.int64),
        plain=np.zeros(run),
        best_plain=np.zeros(run),
        again=np.zeros((x, *run)),
        waits=np.zeros((x, *run), dtype=bool),
        proved=np.full((x, *run), -np.inf),
        proved_from=np.full((x, *run), -1),
        sums=np.zeros((cells, kernels.SUMS)),
    )
    kernels.rebuild(state)
    return state


def copied(state: kernels.State) -> kernels.State:
    """Return the same state in memory of its own."""
    return kernels.State(*(part.copy() for part in state))


BY_CELL = ("held", "power", "entered", "visits", "touched", "most", "wealth", "block")


def grown(state: kernels.State, groups: int) -> kernels.State:
    """Return the state with room for so many groups, at least doubled if it has to grow."""
    room = state.mass.size - kernels.GROUPS
    if groups <= room:
        return state
    larger = fresh_state(state.head.shape[0], max(groups, 2 * room))
    kept = {name: getattr(state, name) for name in state._fields}
    kept |= {name: getattr(larger, name) for name in ("tree", "mass", "cash", "sums", *BY_CELL)}
    cells = state.mass.size
    for name in BY_CELL:
        axis = 2 if name in ("held", "power", "wealth") else 1
        part = (slice(None),) * axis + (slice(cells),)
        kept[name][part] = getattr(state, name)
    kept["sums"][:cells] = state.sums
    answer = kernels.State(**kept)
    kernels.rebuild(answer)
    return answer
