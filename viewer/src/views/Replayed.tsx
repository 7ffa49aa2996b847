import { useEffect, useState } from "preact/hooks";
import { replay, replayed, session, show, writeLink } from "../state";
import { Record } from "./Play";
import { focusPanel } from "./Runs";
import { runsApi, type RecordedGame } from "./runs-api";

/** A recorded game beside the board, or its moves as text where there is no board for it. */
export function Replayed({ entry }: { entry: string }) {
  const shown = replayed.value!;
  const [game, setGame] = useState<RecordedGame | null>(null);
  const [error, setError] = useState("");
  const [total, setTotal] = useState(0);
  useEffect(() => {
    let ended = false;
    const fail = (problem: Error) => { if (!ended) setError(problem.message); };
    setError("");
    runsApi.game(entry, shown.number).then((found) => { if (!ended) setGame(found); }, fail);
    runsApi.games(entry, 0, 1).then((found) => { if (!ended) setTotal(found.total); }, fail);
    return () => { ended = true; };
  }, [entry, shown.number]);
  const back = () => { replayed.value = null; writeLink(); focusPanel(); };
  const jump = (number: number) => void replay(entry, number);
  const seats = session.value?.position.players ?? 0;
  return (
    <div class="replayed">
      <div class="buttons">
        <button class="quiet" onClick={back}>‹ Back to the games</button>
        <button onClick={() => jump(shown.number - 1)} disabled={shown.number === 0} aria-label="The game before">◀</button>
        <b>Game {shown.number + 1}</b>
        <button onClick={() => jump(shown.number + 1)} disabled={total > 0 && shown.number + 1 >= total} aria-label="The next game">▶</button>
      </div>
      {error && <p class="problem" role="alert">{error}</p>}
      {game && (
        <>
          <ul class="seats">{game.seats.map((name, seat) => <li key={seat}>{!shown.error && seats > 1 && game.seats.length > 1 && <i class={`dot player${seat}`} />}<span>{name}</span></li>)}</ul>
          <dl class="facts lines">{Object.entries(game.facts).map(([name, text]) => <div key={name}><dt>{name}</dt><dd>{text}</dd></div>)}</dl>
        </>
      )}
      {shown.error ? (
        <>
          <p class="note" role="alert">There is no board for this game: {shown.error}</p>
          {game && <p class="plain-moves">{game.opening.length > 0 && <i>{game.opening.join(" ")} </i>}{game.moves.join(" ")}</p>}
        </>
      ) : (
        <>
          <div class="buttons">
            <button onClick={() => show("analyse")}>Analyse this position</button>
            <button onClick={() => show("review")}>Review the game</button>
          </div>
          {shown.opening > 0 && <p class="note">The first {shown.opening === 1 ? "move is" : `${shown.opening} moves are`} the opening of the match.</p>}
          <Record />
          {shown.left > 0 && <p class="note">{shown.left.toLocaleString("en")} further moves and outcomes of chance are left out: the game is too long for the board.</p>}
        </>
      )}
    </div>
  );
}
