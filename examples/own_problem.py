"""Search your own Python objects: plan a delivery round, then use a slow evaluator with many evaluations in flight."""

import asyncio

import treetop as tt

ROADS = {
    "depot": {"mill": 4, "farm": 2, "inn": 7},
    "mill": {"depot": 4, "farm": 3, "inn": 2, "port": 6},
    "farm": {"depot": 2, "mill": 3, "port": 8},
    "inn": {"depot": 7, "mill": 2, "port": 3},
    "port": {"mill": 6, "farm": 8, "inn": 3},
}


class Round:
    """Visit every place once; each hour costs a point. A state is the route so far, an action the next place."""

    reward_range = (-40, 0)
    step_rewards = True

    def initial(self):
        return ("depot",)

    def actions(self, route):
        return [place for place in ROADS[route[-1]] if place not in route] or ["give up"]

    def step(self, route, place):
        return (*route, place), -ROADS[route[-1]].get(place, 0)

    def is_terminal(self, route):
        return len(route) == len(ROADS) or route[-1] == "give up"

    def rewards(self, route):
        return -20 if route[-1] == "give up" else 0


search = tt.Search(Round(), tt.uct(c=1.0), seed=1)
result = search.run(tt.Limit(simulations=500))
print(result, end="\n\n")
print("the round:", " -> ".join(["depot", *result.pv_actions]))


async def adviser(route, places):
    """Return a prior that prefers near places, and a value of -3 a place left. A third number would be the cost."""
    await asyncio.sleep(0.01)
    return {place: 1 / ROADS[route[-1]].get(place, 20) for place in places}, -3.0 * (len(ROADS) - len(route))


search = tt.Search(Round(), tt.puct(c=1.0), evaluator=adviser, seed=1)
result = search.run_remote(tt.Limit(calls=20), in_flight=8, timeout=2.0, retries=2)
print(f"{result.calls} evaluations in {result.elapsed:.2f} s; the round with the adviser starts with {result.action}")
