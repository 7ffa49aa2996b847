import type { Cards, Dice, Pile, Piles, Shapes, Table, Text, Track } from "../api";
import type { Mark } from "./BoardPanel";
import { lettered, valueColour } from "./Grid";
import { nextNames, touch, touched } from "./touch";

/** A thing that can be touched: a button if a legal move goes on with it. */
function touchable(name: string): { class: string; disabled: boolean; onClick: () => void } {
  const open = name !== "" && nextNames().has(name);
  return { class: `${open ? "open" : ""} ${touched.value.includes(name) && name ? "chosen" : ""}`, disabled: !open, onClick: () => touch(name) };
}

/** The opinion of the search about a move that is a button or a card. */
export function Value({ mark }: { mark?: Mark }) {
  return mark ? <span class={mark.best ? "opinion-value best" : "opinion-value"} style={{ background: valueColour(mark.value) }} title={`${mark.visits} visits`}>{mark.label}</span> : null;
}

/** A text in which X and O are shown as the pieces of the players. */
const Named = ({ text }: { text: string }) => (
  <span>{text.split(/\b([XO])\b/).map((word, place) => (place % 2 ? <i key={place} class={`dot ${owner(word)}`} role="img" aria-label={word} /> : word))}</span>
);

export function CardsPart({ part, marks }: { part: Cards; marks: Map<string, Mark> }) {
  return (
    <div class="cards">
      {part.title && <h3>{part.title}</h3>}
      <div class="row">
        {part.cards.map((card, place) => {
          const { class: classes, ...rest } = touchable(card.name);
          const suit = /[♥♦]/.test(card.face) ? "red" : "";
          return (
            <button key={place} class={`card ${suit} ${card.face ? "" : "back"} ${classes}`} {...rest} aria-label={`${card.face || "face down"} ${card.note}`}>
              <b>{card.face || " "}</b>
              {card.note && <small>{card.note}</small>}
              {card.name && <Value mark={marks.get(card.name)} />}
            </button>
          );
        })}
        {part.cards.length === 0 && <span class="empty">none</span>}
      </div>
    </div>
  );
}

const PIPS: Record<number, [number, number][]> = {
  0: [], 1: [[2, 2]], 2: [[1, 1], [3, 3]], 3: [[1, 1], [2, 2], [3, 3]], 4: [[1, 1], [1, 3], [3, 1], [3, 3]],
  5: [[1, 1], [1, 3], [2, 2], [3, 1], [3, 3]], 6: [[1, 1], [1, 2], [1, 3], [3, 1], [3, 2], [3, 3]],
};

export function DicePart({ part }: { part: Dice }) {
  const { class: classes, ...rest } = touchable(part.name);
  return (
    <div class="dice">
      {part.title && <h3><Named text={part.title} /></h3>}
      <button class={`row ${classes}`} {...rest} aria-label={`Dice: ${part.values.join(", ") || "none"}${part.name ? `; ${part.name}` : ""}`}>
        {part.values.map((value, place) => (
          <svg key={place} viewBox="0 0 4 4" class="die">
            <rect x={0.15} y={0.15} width={3.7} height={3.7} rx={0.7} />
            {PIPS[value] ? PIPS[value]!.map(([x, y]) => <circle key={`${x}${y}`} cx={x} cy={y} r={0.36} />) : <text x={2} y={2}>{value}</text>}
          </svg>
        ))}
        {part.name && <span>{part.name}</span>}
      </button>
    </div>
  );
}

const owner = (piece: string) => (piece === "X" ? "player0" : piece === "O" ? "player1" : "neutral");

export function PilesPart({ part }: { part: Piles }) {
  return part.style === "points" ? <Points part={part} /> : (
    <div class="piles">
      {part.title && <h3>{part.title}</h3>}
      {part.rows.map((row, place) => (
        <div class="row" key={place}>
          {row.map((pile, index) => <Heap key={index} pile={pile} />)}
        </div>
      ))}
    </div>
  );
}

function Heap({ pile }: { pile: Pile }) {
  const { class: classes, ...rest } = touchable(pile.name);
  const shown = Math.min(pile.count, 60);
  if (owner(pile.piece) === "neutral" && lettered(pile.piece) >= 0)
    return (
      <button class={`chip ${classes} ${pile.count ? "" : "none"}`} {...rest} aria-label={`${pile.piece.toUpperCase()}: ${pile.count}`}>
        <b>{pile.piece.toUpperCase()}</b> {pile.count}
      </button>
    );
  return (
    <button class={`heap ${classes}`} {...rest} aria-label={`${pile.count} pieces`}>
      <svg viewBox={`0 0 10 ${Math.max(1, Math.ceil(shown / 10))}`}>
        {Array.from({ length: shown }, (_, n) => <circle key={n} class={`disc ${owner(pile.piece)}`} cx={(n % 10) + 0.5} cy={Math.floor(n / 10) + 0.5} r={0.36} />)}
      </svg>
      <b>{pile.count}</b>
    </button>
  );
}

/** The board of backgammon: points in two rows, the bar in the middle, checkers that were borne off at the side. */
function Points({ part }: { part: Piles }) {
  const open = nextNames();
  const width = Math.max(...part.rows.map((row) => row.length));
  const bar = (width - 2) / 2;
  return (
    <svg class="points" viewBox={`0 0 ${width} 12`} role="group" aria-label="Backgammon board">
      <rect class="surface" x={0} y={0} width={width} height={12} rx={0.2} />
      <rect class="bar" x={bar} y={0} width={1} height={12} />
      <rect class="off" x={width - 1} y={0} width={1} height={12} />
      {part.rows.map((row, r) => row.map((pile, c) => {
        const down = r === 0;
        const point = c !== bar && c !== width - 1;
        const shown = Math.min(pile.count, 5);
        const active = pile.name !== "" && open.has(pile.name);
        const y = (n: number) => (down ? n + 0.5 : 11.5 - n);
        return (
          <g key={`${r}${c}`} class={`pile ${active ? "open" : ""} ${touched.value.includes(pile.name) && pile.name ? "chosen" : ""}`} tabIndex={active ? 0 : -1} role="button"
            aria-label={`${pile.name || "side"}: ${pile.count} ${pile.piece}`} aria-disabled={!active} onClick={() => pile.name && touch(pile.name)}
            onKeyDown={(event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); touch(pile.name); } }}>
            <rect class="area" x={c} y={down ? 0 : 6.5} width={1} height={5.5} />
            {point && <polygon class={(c + r) % 2 ? "odd" : "even"} points={down ? `${c},0 ${c + 1},0 ${c + 0.5},5` : `${c},12 ${c + 1},12 ${c + 0.5},7`} />}
            {Array.from({ length: shown }, (_, n) => <circle key={n} class={`disc ${owner(pile.piece)}`} cx={c + 0.5} cy={y(n)} r={0.42} />)}
            {pile.count > 5 && <text x={c + 0.5} y={y(4)}>{pile.count}</text>}
            {point && pile.name && <text class="name" x={c + 0.5} y={down ? 5.6 : 6.6}>{pile.name}</text>}
          </g>
        );
      }))}
    </svg>
  );
}

export function TrackPart({ part }: { part: Track }) {
  return (
    <div class="track">
      {part.title && <h3>{part.title}</h3>}
      {Object.entries(part.markers).map(([name, place], number) => (
        <div class="lane" key={name}>
          <span>{name}</span>
          <meter class={`player${number}`} min={0} max={part.length} value={place} aria-label={name} />
          <b>{place}</b>
        </div>
      ))}
    </div>
  );
}

export function ShapesPart({ part }: { part: Shapes }) {
  return (
    <svg class="shapes" viewBox={`0 0 ${part.width} ${part.height}`} role="img" aria-label={part.title || "Picture of the position"}>
      {part.shapes.map((shape, place) => {
        const classes = shape.player >= 0 ? `player${shape.player}` : "neutral";
        if (shape.kind === "circle") return <circle key={place} class={classes} cx={shape.x} cy={shape.y} r={shape.width} />;
        if (shape.kind === "line") return <line key={place} class={classes} x1={shape.x} y1={shape.y} x2={shape.x + shape.width} y2={shape.y + shape.height} />;
        if (shape.kind === "box") return <rect key={place} class={classes} x={shape.x} y={shape.y} width={shape.width} height={shape.height} />;
        return <text key={place} class={classes} x={shape.x} y={shape.y}>{shape.text}</text>;
      })}
    </svg>
  );
}

export function TablePart({ part }: { part: Table }) {
  return (
    <dl class="facts">
      {Object.entries(part.rows).map(([name, value]) => <div key={name}><dt><Named text={name} /></dt><dd>{value}</dd></div>)}
    </dl>
  );
}

export function TextPart({ part }: { part: Text }) {
  return <pre class="text">{part.text}</pre>;
}
