"""Run a local mock of a language model that speaks the chat protocol, to try examples/game_of_24.py.

python examples/stand_in_model.py --serve 8024       and in another terminal
python examples/game_of_24.py 4 9 10 13 --model stand-in --base-url http://127.0.0.1:8024/v1
"""

import argparse
import json
import threading
import urllib.request

from reasoning.chat import PROPOSE, RULES
from reasoning.stand_in import StandIn

parser = argparse.ArgumentParser(description="A local server that answers like a fallible language model.")
parser.add_argument(
    "--serve", type=int, metavar="PORT", help="serve until Ctrl-C; without it, one question is asked and answered"
)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--failing", type=float, default=0.0, help="the share of requests that fail with 429 or 500")
parser.add_argument("--babbling", type=float, default=0.0, help="the share of answers without content")
parser.add_argument("--seconds", type=float, default=0.0, help="the approximate time of an answer")
options = parser.parse_args()

with StandIn(
    options.seed, port=options.serve or 0, failing=options.failing, babbling=options.babbling, seconds=options.seconds
) as model:
    if options.serve:
        print(f"listening at {model.url}; Ctrl-C ends it")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()
    else:
        messages = [
            {"role": "system", "content": f"{RULES}\n{PROPOSE.format(count=5)}"},
            {"role": "user", "content": "Numbers left: 4 9 10 13"},
        ]
        body = json.dumps({"model": "stand-in", "messages": messages}).encode()
        with urllib.request.urlopen(
            urllib.request.Request(f"{model.url}/chat/completions", body, {"Content-Type": "application/json"})
        ) as reply:
            answer = json.load(reply)
        print(
            messages[-1]["content"],
            answer["choices"][0]["message"]["content"],
            f"({answer['usage']['total_tokens']} tokens)",
            sep="\n",
        )
