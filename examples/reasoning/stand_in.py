"""A mock of a language model: a local server that speaks the chat protocol and answers like a fallible model.

It is not a language model. It solves the puzzle exactly and adds random errors: some of its steps are good, some bad,
some illegal; its probabilities are noisy. Answers depend only on the seed, the question and how often it was asked.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections import Counter
from fractions import Fraction
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from .puzzle import TARGET, GameOf24, State, Step, shown

_CHATTER = ("Let me look for factors of 24.", "Working backwards from 24:", "Here is what I would try.")


@cache
def can_reach(state: State) -> bool:
    """Return whether 24 can be made, exactly."""
    if len(state) == 1:
        return state[0] == TARGET
    game = GameOf24(state)
    return any(can_reach(game.step(state, step)) for step in game.actions(state))


class StandIn:
    """The server, as a context manager. `failing` requests get an error 429 or 500, `babbling` ones no content."""

    def __init__(
        self,
        seed: int = 1,
        *,
        port: int = 0,
        skill: float = 0.55,
        failing: float = 0.0,
        babbling: float = 0.0,
        seconds: float = 0.0,
    ) -> None:
        self.seed, self.skill, self.failing, self.babbling, self.seconds = seed, skill, failing, babbling, seconds
        self.asked: Counter[str] = Counter()
        """The number of times that each question was asked."""
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), type("Handler", (_Handler,), {"model": self}))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        """The base URL for a client."""

    def __enter__(self) -> Self:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True, name="stand-in model"
        ).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reply(self, messages: list[dict[str, str]]) -> tuple[int, str]:
        """Return the status and the text of the answer to a conversation."""
        task, question = messages[0]["content"], messages[-1]["content"]
        topic = "propose" if "promising" in task else "verify"
        with self._lock:
            self.asked[f"{topic}: {question}"] += 1
            times = self.asked[f"{topic}: {question}"]
        dice = random.Random(f"{self.seed}|{topic}|{question}|{times}")
        if self.seconds:
            time.sleep(self.seconds * dice.uniform(0.5, 1.5))
        if dice.random() < self.failing:
            return dice.choice([(429, "too many requests"), (500, "out of order")])
        if dice.random() < self.babbling:
            return 200, "As a matter of principle, numbers are beautiful."
        game = GameOf24(map(Fraction, question.rpartition(":")[2].split()))
        return 200, self.propose(game, dice) if topic == "propose" else self.judge(game, dice)

    def propose(self, game: GameOf24, dice: random.Random) -> str:
        """Return five lines: some good steps, some others, and sometimes an illegal one."""
        state, steps = game.initial(), game.actions(game.initial())
        good = [step for step in steps if can_reach(game.step(state, step))]
        seen = [step for step in good if dice.random() < self.skill][:3]
        others = [step for step in steps if step not in good]
        seen += dice.sample(others, min(len(others), 5 - len(seen)))
        weighted = sorted(((self._weight(dice, step in good), str(step)) for step in seen), reverse=True)
        lines = [f"{text} | {weight}" for weight, text in weighted]
        if dice.random() < 0.3:
            lines.insert(dice.randrange(len(lines) + 1), self._mistake(dice, steps))
        return "\n".join([dice.choice(_CHATTER), *lines] if dice.random() < 0.3 else lines)

    def judge(self, game: GameOf24, dice: random.Random) -> str:
        """Return a noisy probability."""
        chance = round(100 * min(max(dice.gauss(0.7 if can_reach(game.initial()) else 0.3, 0.2), 0.01), 0.99))
        return f"{shown(game.numbers)}: hard to say in advance.\nchance: {chance}"

    @staticmethod
    def _weight(dice: random.Random, good: bool) -> int:
        return min(max(round(dice.gauss(60 if good else 35, 20)), 1), 99)

    @staticmethod
    def _mistake(dice: random.Random, steps: list[Step]) -> str:
        step = dice.choice(steps)
        if dice.random() < 0.5:
            return f"{step.left + 1} + {step.right} = {step.left + step.right + 1} | 40"  # perhaps a missing number
        return f"{step.left} + {step.right} = {step.left + step.right + 1} | 40"  # a wrong sum


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore closed connections, and report other errors."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    model: StandIn
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.path.endswith("/chat/completions"):
            self._answer(404, {"error": {"message": f"there is nothing at {self.path}"}})
            return
        try:
            plain = json.loads(body)
            messages = plain["messages"]
            status, text = self.model.reply(messages)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            self._answer(400, {"error": {"message": f"this is not a request of the chat protocol: {error}"}})
            return
        if status != 200:
            self._answer(status, {"error": {"message": text}})
            return
        asked, said = sum(len(message["content"]) for message in messages) // 4, max(1, len(text) // 4)
        self._answer(
            200,
            {
                "id": "chatcmpl-stand-in",
                "object": "chat.completion",
                "created": 0,
                "model": plain.get("model", "stand-in"),
                "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
            },
        )

    def _answer(self, status: int, plain: dict[str, Any]) -> None:
        body = json.dumps(plain).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:  # the client has closed the connection
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server gives it
        """Log nothing."""
