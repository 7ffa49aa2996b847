"""Your own Python objects as a problem: plan a delivery round over a dictionary of roads, then ask a slow adviser, many questions at once."""

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
    """Visit every place once; each hour on the road costs a point. A state is the way so far, an action the next place."""

    reward_range = (-40, 0)
    step_rewards = True

    def initial(self):
        return ("depot",)

    def actions(self, way):
        return [place for place in ROADS[way[-1]] if place not in way] or ["give up"]

    def step(self, way, place):
        return (*way, place), -ROADS[way[-1]].get(place, 0)

    def is_terminal(self, way):
        return len(way) == len(ROADS) or way[-1] == "give up"

    def rewards(self, way):
        return -20 if way[-1] == "give up" else 0


search = tt.Search(Round(), tt.uct(c=1.0), seed=1)
result = search.run(tt.Limit(simulations=500))
print(result, end="\n\n")
print("the round:", " -> ".join(["depot", *result.pv_actions]))


async def adviser(way, places):
    """Somebody far away: near places first, and so much per place that is left. A third number would be what the answer cost."""
    await asyncio.sleep(0.01)
    return {place: 1 / ROADS[way[-1]].get(place, 20) for place in places}, -3.0 * (len(ROADS) - len(way))


search = tt.Search(Round(), tt.puct(c=1.0), evaluator=adviser, seed=1)
result = search.run_remote(tt.Limit(calls=20), in_flight=8, timeout=2.0, retries=2)
print(f"{result.calls} questions in {result.elapsed:.2f} s; the adviser's round begins with {result.action}")
