import { useRef, useState } from "preact/hooks";
import type { Grid, Part } from "../api";
import type { Mark, Step } from "./BoardPanel";
import { flipped } from "../state";
import { nextNames, touch, touched } from "./touch";

const SQRT3 = Math.sqrt(3);
const HEX = 0.56;

/** Whether a board has two sides to be looked at from. */
export const canFlip = (part: Part) => part.kind === "grid" && part.shape === "square" && part.surface === "checkered";

interface Cell { name: string; piece: string; x: number; y: number; row: number; column: number }

/** A board of squares or hexagons: click, drag, or arrow keys and Enter. */
export function GridPart({ grid, marks, steps, advice, last }: {
  grid: Grid; marks: Map<string, Mark>; steps: Step[]; advice: Map<string, "played" | "better">; last: string;
}) {
  const [focus, setFocus] = useState<[number, number]>([grid.rows.length - 1, 0]);
  const held = useRef("");
  const pointed = useRef(false); // after a click the arrow keys step through the game; after Tab they walk on the board
  const root = useRef<SVGSVGElement>(null);
  const height = grid.rows.length;
  const width = grid.rows[0]!.length;
  const hex = grid.shape === "hex";
  const turned = flipped.value && canFlip(grid);
  const cells: Cell[] = grid.rows.flatMap((row, r) =>
    row.map((piece, c) => ({
      piece, row: r, column: c, name: grid.cell_names[r]![c]!,
      x: hex ? SQRT3 * HEX * (c + r / 2 + 0.5) : turned ? width - c - 0.5 : c + 0.5,
      y: hex ? 1.5 * HEX * r + HEX : turned ? height - r - 0.5 : r + 0.5,
    })),
  );
  const anchors = anchorsOf(cells);
  const open = nextNames();
  const size = hex ? [SQRT3 * HEX * (width + (height - 1) / 2), 1.5 * HEX * (height - 1) + 2 * HEX] : [width, height];
  const numbers = stepsAt(steps, cells);
  const columns = !hex && cells.every((cell) => cell.name === cells[cell.column]!.name && cell.name !== "");
  const labelled = !hex && grid.pieces !== "tiles" && new Set(cells.map((cell) => cell.name)).size === cells.length;
  const hints = !steps.length && (columns || cells.some((cell) => !cell.piece && !open.has(cell.name))); // where every empty cell is legal, dots say nothing
  const small = Math.max(width, height) / 8; // texts beside the board have one size on the screen, whatever the size of the board
  const pad = labelled ? 0.45 * small : columns ? 0.3 * small : 0.15;
  const [lastCells, from] = cellsOf(last, cells);

  const onKey = (event: KeyboardEvent) => {
    const moves: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const step = pointed.current ? undefined : moves[event.key];
    if (step) {
      const by = turned ? -1 : 1;
      const next: [number, number] = [Math.min(height - 1, Math.max(0, focus[0] + by * step[0])), Math.min(width - 1, Math.max(0, focus[1] + by * step[1]))];
      setFocus(next);
      root.current?.querySelector<SVGElement>(`[data-at="${next[0]},${next[1]}"]`)?.focus();
    } else if (event.key === "Enter" || event.key === " ") touch(grid.cell_names[focus[0]]![focus[1]]!);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page has keys of its own
  };
  const nameAt = (event: PointerEvent) =>
    document.elementFromPoint(event.clientX, event.clientY)?.closest<SVGElement>("[data-name]")?.dataset.name ?? "";
  return (
    <svg ref={root} class={`grid ${grid.surface} ${grid.shape} ${grid.pieces}`} viewBox={hex ? `${-pad} ${-pad} ${size[0]! + 2 * pad} ${size[1]! + 2 * pad}` : `${-pad} ${-pad / 3} ${size[0]! + pad * 4 / 3} ${size[1]! + pad * 4 / 3}`}
      role="grid" aria-label={`Board, ${width} columns and ${height} rows`} onKeyDown={onKey}
      onPointerDown={(event) => { held.current = nameAt(event); }}
      onPointerUp={(event) => {
        const name = nameAt(event);
        if (name && held.current && name !== held.current && open.has(held.current)) { touch(held.current); touch(name); }
        else if (name && name === held.current) touch(name);
        held.current = "";
      }}>
      {!hex && <rect class="surface" x={0} y={0} width={width} height={height} rx={grid.surface === "holes" ? 0.25 : 0.04} />}
      {grid.surface === "lines" && <Lines width={width} height={height} />}
      {grid.edges.length === 4 && <Edges grid={grid} cells={cells} />}
      {Array.from({ length: height }, (_, r) => (
        <g role="row" key={r}>
          {cells.slice(r * width, (r + 1) * width).map((cell) => (
            <CellView key={`${cell.row},${cell.column}`} cell={cell} grid={grid} focusable={focus[0] === cell.row && focus[1] === cell.column}
              open={open.has(cell.name)} hint={hints} chosen={touched.value.includes(cell.name)} last={lastCells.has(cell)} from={lastCells.has(cell) ? from : undefined} anchor={anchors.get(cell.name) === cell}
              mark={anchors.get(cell.name) === cell ? marks.get(cell.name) : undefined}
              advice={anchors.get(cell.name) === cell ? advice.get(cell.name) : undefined}
              onFocus={(event) => { setFocus([cell.row, cell.column]); pointed.current = !(event.currentTarget as Element).matches(":focus-visible"); }} />
          ))}
        </g>
      ))}
      <Arrows marks={marks} steps={steps} anchors={anchors} />
      <g aria-hidden="true">
        {[...marks].map(([name, mark]) => { const cell = anchors.get(name); return cell && <Opinion key={name} mark={mark} x={cell.x} y={cell.y} hex={hex} />; })}
        {[...numbers].map(([cell, number]) => <g key={number} class="step"><circle cx={cell.x} cy={cell.y} r={0.24} /><text x={cell.x} y={cell.y}>{number}</text></g>)}
      </g>
      {columns && !labelled && height > 1 && <Columns cells={cells.slice(0, width)} height={height} small={small} />}
      {labelled && <Labels cells={cells} width={width} height={height} small={small} />}
    </svg>
  );
}

/** Where the opinion about a name is drawn: at its only cell, or, for a column, at the lowest empty cell. */
function anchorsOf(cells: Cell[]): Map<string, Cell> {
  const found = new Map<string, Cell>();
  for (const cell of cells) {
    const before = found.get(cell.name);
    if (!before || !cell.piece) found.set(cell.name, cell);
  }
  return found;
}

/** Where the numbers of a variation are drawn: those of a column one above the other, from the lowest empty cell. */
function stepsAt(steps: Step[], cells: Cell[]): Map<Cell, number> {
  const found = new Map<Cell, number>();
  for (const step of steps) {
    const same = cells.filter((cell) => cell.name === step.to);
    const place = same.length > 1 ? same.reverse().find((cell) => !cell.piece && !found.has(cell)) : same[0];
    if (place && !found.has(place)) found.set(place, step.number);
  }
  return found;
}

/** Arrows from where pieces come to where they go: of the best moves, or of a variation. */
function Arrows({ marks, steps, anchors }: { marks: Map<string, Mark>; steps: Step[]; anchors: Map<string, Cell> }) {
  const moves = steps.length ? steps.map(({ from, to }) => ({ from, to, best: false })) : [...marks].map(([to, mark]) => ({ from: mark.from, to, best: mark.best }));
  return (
    <g class="arrows">
      {moves.map(({ from, to, best }, place) => {
        const start = from === undefined ? undefined : anchors.get(from);
        const end = anchors.get(to);
        return start && end && start !== end && <line key={place} class={steps.length ? "variation" : best ? "best" : ""} x1={start.x} y1={start.y} x2={end.x} y2={end.y} />;
      })}
    </g>
  );
}

/** The cells of the last move, and the one that its piece came from. The longest names count: 12 is not 2. */
function cellsOf(last: string, cells: Cell[]): [Set<Cell>, Cell | undefined] {
  if (!last) return [new Set(), undefined];
  if (new Set(cells.map((cell) => cell.name)).size !== cells.length)
    return [new Set(cells.filter((cell) => last === cell.name && cell.piece).slice(0, 1)), undefined];
  const longest = (matching: Cell[]) => [...matching].sort((a, b) => b.name.length - a.name.length)[0];
  const to = longest(cells.filter((cell) => cell.name && last.endsWith(cell.name)));
  const from = longest(cells.filter((cell) => cell.name && cell !== to && last.startsWith(cell.name)));
  return [new Set(to ? [to] : []), from && !from.piece && last.length >= from.name.length + to!.name.length ? from : undefined];
}

/** Where the piece of the last move comes from: from above in a column, or from the cell that it left. */
function arrival(cell: Cell, from: Cell | undefined, grid: Grid): Record<string, string> | undefined {
  if (grid.surface === "holes") return { "--dx": "0px", "--dy": `${-cell.row - 1}px` };
  return from ? { "--dx": `${from.x - cell.x}px`, "--dy": `${from.y - cell.y}px` } : undefined;
}

interface CellProps { cell: Cell; grid: Grid; focusable: boolean; open: boolean; hint: boolean; chosen: boolean; last: boolean; from?: Cell; anchor: boolean; mark?: Mark; advice?: "played" | "better"; onFocus: (event: FocusEvent) => void }

function CellView({ cell, grid, focusable, open, hint, chosen, last, from, anchor, mark, advice, onFocus }: CellProps) {
  const hex = grid.shape === "hex";
  const dark = grid.surface === "checkered" && (cell.row + cell.column) % 2 === 1;
  const spoken = `${cell.name}, ${cell.piece || "empty"}${open ? ", legal" : ""}${mark ? `, ${mark.label} percent, ${mark.visits} visits` : ""}${advice === "better" ? ", better" : advice ? ", played" : ""}`;
  const classes = ["cell", dark ? "dark" : "", open ? "open" : "", chosen ? "chosen" : "", last ? "last" : ""].join(" ");
  return (
    <g role="gridcell" class={classes} data-name={cell.name} data-at={`${cell.row},${cell.column}`} tabIndex={focusable ? 0 : -1} aria-label={spoken} onFocus={onFocus}>
      {hex ? <polygon class="square" points={hexagon(cell.x, cell.y, HEX)} /> : <rect class="square" x={cell.x - 0.5} y={cell.y - 0.5} width={1} height={1} />}
      {grid.surface === "holes" && <circle class="hole" cx={cell.x} cy={cell.y} r={0.4} />}
      <g key={last ? "last" : "old"} class={last && cell.piece ? "arrives" : ""} style={arrival(cell, from, grid)}>
        <Piece text={cell.piece} grid={grid} x={cell.x} y={cell.y} />
        {last && grid.pieces === "discs" && cell.piece && <circle class="lastmark" cx={cell.x} cy={cell.y} r={0.1} />}
      </g>
      {open && hint && anchor && !mark && !advice && !cell.piece && <circle class="hint" cx={cell.x} cy={cell.y} r={0.09} />}
      {advice && <g class={`advice ${advice}`}><circle cx={cell.x} cy={cell.y} r={0.34} /><text x={cell.x} y={cell.y}>{advice === "better" ? "✓" : "✗"}</text></g>}
    </g>
  );
}

/** The most visited moves have a disc with their value, larger with more visits; the others a dot. */
function Opinion({ mark, x, y, hex }: { mark: Mark; x: number; y: number; hex: boolean }) {
  const radius = mark.labelled ? (hex ? 0.28 : 0.3) + 0.12 * Math.sqrt(mark.share) : 0.1;
  const counted = radius >= (hex ? 0.31 : 0.33);
  return (
    <g class={`opinion ${mark.best ? "best" : ""}`}>
      <circle cx={x} cy={y} r={radius} style={{ fill: valueColour(mark.value) }} />
      {mark.labelled && <text x={x} y={counted ? y - 0.06 : y}>{mark.label}</text>}
      {mark.labelled && counted && <text class="visits" x={x} y={y + 0.16}>{mark.visits}</text>}
    </g>
  );
}

/** Grey for an even position, red for a loss, green for a win: as strong as the value is far from even. */
export function valueColour(value: number | null, light = "var(--value-light)"): string {
  if (value === null) return "var(--mute)";
  const strength = 64 * Math.sqrt(Math.min(1, 2 * Math.abs(value - 0.5)));
  return `hsl(${value < 0.5 ? 12 : 156} ${strength.toFixed(0)}% ${light})`;
}

function Piece({ text, grid, x, y }: { text: string; grid: Grid; x: number; y: number }) {
  if (!text) return null;
  const owner = text === "X" || text === "1" ? 0 : text === "O" || text === "2" ? 1 : -1;
  if (grid.pieces === "tiles") {
    const level = Math.log2(Number(text) || 1);
    return (
      <g class="tile" key={text}>
        <rect x={x - 0.45} y={y - 0.45} width={0.9} height={0.9} rx={0.08} style={{ fill: `hsl(${(40 - 4 * level).toFixed(0)} ${Math.min(80, 22 + 6 * level)}% ${Math.max(38, 84 - 4.6 * level).toFixed(0)}%)` }} />
        <text x={x} y={y} class={text.length > 3 ? "small" : ""}>{text}</text>
      </g>
    );
  }
  if (grid.pieces === "marks" && owner === 0)
    return <path class="mark player0" d={`M${x - 0.26} ${y - 0.26}L${x + 0.26} ${y + 0.26}M${x + 0.26} ${y - 0.26}L${x - 0.26} ${y + 0.26}`} />;
  if (grid.pieces === "marks" && owner === 1) return <circle class="mark player1" cx={x} cy={y} r={0.28} />;
  if (grid.pieces === "discs" && owner >= 0) return <circle class={`disc player${owner}`} cx={x} cy={y} r={0.39} />;
  const figure = FIGURES[0]!.indexOf(text) >= 0 ? 0 : FIGURES[1]!.indexOf(text) >= 0 ? 1 : -1;
  if (figure >= 0) // one shape for both sides, filled with the colour of the side: an outline would be read as the other side in the dark
    return <text class={`glyph figure player${figure}`} x={x} y={y}>{`${FIGURES[1]![FIGURES[figure]!.indexOf(text)]}\ufe0e`}</text>;
  const side = lettered(text);
  if (grid.pieces === "text" && side >= 0 && grid.rows.some((row) => row.some((piece) => lettered(piece) === 1))) // not the G of a goal
    return <g class="lettered"><circle class={`disc player${side}`} cx={x} cy={y} r={0.4} /><text class={`glyph player${side}`} x={x} y={y}>{text.toUpperCase()}</text></g>;
  return <text class="glyph" x={x} y={y}>{text}</text>;
}

const FIGURES = ["♔♕♖♗♘♙⛀⛁", "♚♛♜♝♞♟⛂⛃"]; // of chess and draughts: of player 0, of player 1

/** Whose piece a letter is, as in FEN: capitals are of player 0; -1 for other texts. */
export const lettered = (text: string): number => (/^\+?[A-Z]$/.test(text) ? 0 : /^\+?[a-z]$/.test(text) ? 1 : -1);

function Lines({ width, height }: { width: number; height: number }) {
  const d = [
    ...Array.from({ length: width }, (_, c) => `M${c + 0.5} 0.5V${height - 0.5}`),
    ...Array.from({ length: height }, (_, r) => `M0.5 ${r + 0.5}H${width - 0.5}`),
  ].join("");
  return <path class="lines" d={d} />;
}

/** The sides of a rhombus of hexagons, in the colours of the players who connect them. */
function Edges({ grid, cells }: { grid: Grid; cells: Cell[] }) {
  const height = grid.rows.length;
  const width = grid.rows[0]!.length;
  const at = (r: number, c: number) => cells[r * width + c]!;
  const corner = (cell: Cell, number: number) => {
    const angle = (Math.PI / 180) * (60 * number - 90);
    return `${(cell.x + HEX * Math.cos(angle)).toFixed(3)},${(cell.y + HEX * Math.sin(angle)).toFixed(3)}`;
  };
  const top = Array.from({ length: width }, (_, c) => [corner(at(0, c), 5), corner(at(0, c), 0), corner(at(0, c), 1)]).flat();
  const bottom = Array.from({ length: width }, (_, c) => [corner(at(height - 1, c), 4), corner(at(height - 1, c), 3), corner(at(height - 1, c), 2)]).flat();
  const left = Array.from({ length: height }, (_, r) => [corner(at(r, 0), 5), corner(at(r, 0), 4), corner(at(r, 0), 3)]).flat();
  const right = Array.from({ length: height }, (_, r) => [corner(at(r, width - 1), 0), corner(at(r, width - 1), 1), corner(at(r, width - 1), 2)]).flat();
  const side = (piece: string) => (piece === "X" ? "player0" : "player1");
  return (
    <g class="edges">
      {[top, right, bottom, left].map((points, place) => <polyline key={place} class={side(grid.edges[place]!)} points={points.join(" ")} />)}
    </g>
  );
}

function Labels({ cells, width, height, small }: { cells: Cell[]; width: number; height: number; small: number }) {
  const digitsFirst = /^\d/.test(cells[0]!.name); // 9a is in the column 9, a9 in the row 9
  const [column, row] = digitsFirst ? [/\D+$/, /^\d+/] : [/\d+$/, /^\D+/];
  return (
    <g class="labels" aria-hidden="true" style={{ "--size": `${0.24 * small}px` }}>
      {Array.from({ length: width }, (_, c) => <text key={`c${c}`} x={cells[c]!.x} y={height + 0.28 * small}>{cells[c]!.name.replace(column!, "")}</text>)}
      {Array.from({ length: height }, (_, r) => <text key={`r${r}`} x={-0.26 * small} y={cells[r * width]!.y}>{cells[r * width]!.name.replace(row!, "")}</text>)}
    </g>
  );
}

/** Names below the columns, where a column is one move. */
function Columns({ cells, height, small }: { cells: Cell[]; height: number; small: number }) {
  return (
    <g class="labels" aria-hidden="true" style={{ "--size": `${0.24 * small}px` }}>
      {cells.map((cell) => <text key={cell.column} x={cell.x} y={height + 0.2 * small}>{cell.name}</text>)}
    </g>
  );
}

function hexagon(x: number, y: number, r: number): string {
  return Array.from({ length: 6 }, (_, n) => {
    const angle = (Math.PI / 180) * (60 * n - 90);
    return `${(x + r * Math.cos(angle)).toFixed(3)},${(y + r * Math.sin(angle)).toFixed(3)}`;
  }).join(" ");
}
