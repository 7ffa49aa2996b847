import { useState } from "preact/hooks";
import type { MoveInfo } from "../api";
import { valueColour } from "../board/Grid";

/** A number with a fixed count of digits, so that columns are aligned; large ones with fewer. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const shown = size >= 1000 ? value.toLocaleString("en", { maximumFractionDigits: 0 }) : value.toFixed(size >= 100 ? Math.min(1, digits) : digits);
  return shown.replace("-", "−");
}
export const percent = (value: number | null | undefined) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)}%`);
const WINDOW = 12;

interface Column {
  key: string; title: string; about: string;
  /** The number to sort by; null sorts last. */
  of: (one: MoveInfo) => number | string | null;
  cell: (one: MoveInfo) => preact.ComponentChildren;
  bar?: (one: MoveInfo) => number;
}

const COLUMNS: Column[] = [
  { key: "prior", title: "prior", about: "Prior: the probability before the search", of: (one) => one.prior, cell: (one) => percent(one.prior), bar: (one) => one.prior ?? 0 },
  { key: "share", title: "visits, %", about: "The share of the visits: the probability after the search (posterior)", of: (one) => one.share, cell: (one) => percent(one.share), bar: (one) => one.share },
  { key: "visits", title: "visits", about: "Simulations that went through the move", of: (one) => one.visits, cell: (one) => one.visits.toLocaleString("en") },
  { key: "value", title: "Q", about: "Q: the mean of the results, for the player to move", of: (one) => one.utility, cell: (one) => number(one.utility) },
  { key: "explore", title: "explore", about: "The exploration term of the formula", of: (one) => one.exploration, cell: (one) => number(one.exploration) },
  { key: "score", title: "score", about: "The score: the search goes to the highest one next", of: (one) => (one.closed ? null : (one.score ?? Infinity)), cell: (one) => (one.closed ? "closed" : one.score === null ? "∞" : number(one.score)) },
  { key: "lcb", title: "LCB", about: "The lower confidence bound of the value, as a win rate", of: (one) => one.lcb, cell: (one) => percent(one.lcb) },
];
const PROVEN: Column = { key: "proven", title: "proven", about: "The proven result, or its bounds", of: (one) => (one.bounds ? one.bounds[0] + one.bounds[1] : null), cell: badge };

/** The moves of a search: each column sorts, a row shows its variation while it is pointed at or focused. */
export function MoveTable({ rows, selected, onPreview, onPlay }: {
  rows: MoveInfo[]; selected: string; onPreview: (moves: string[]) => void; onPlay?: (move: string) => void;
}) {
  const [order, setOrder] = useState<{ key: string; down: boolean }>({ key: "order", down: false });
  const [all, setAll] = useState(false);
  const columns = rows.some((one) => one.bounds) ? [...COLUMNS, PROVEN] : COLUMNS;
  const by = columns.find((column) => column.key === order.key);
  const of = (one: MoveInfo) => (by ? by.of(one) : order.key === "move" ? one.move : one.order);
  const sorted = [...rows].sort((a, b) => compare(of(a), of(b), order.down) || a.order - b.order);
  const longest = Math.max(1e-9, ...rows.map((one) => Math.max(one.prior ?? 0, one.share))); // both bars have one scale
  const sort = (key: string) => setOrder((old) => (old.key !== key ? { key, down: key !== "move" } : key !== "move" === old.down ? { key, down: !old.down } : { key: "order", down: false }));
  const head = (key: string, title: string, about: string) => (
    <th key={key} scope="col" class={key} aria-sort={order.key !== key ? "none" : order.down ? "descending" : "ascending"}>
      <button onClick={() => sort(key)} title={about}>{title}<i aria-hidden="true">{order.key !== key ? "" : order.down ? "▾" : "▴"}</i></button>
    </th>
  );
  return (
    <>
      <div class="scroll">
        <table class="moves sorted">
          <thead><tr>{head("move", "move", "The move")}{columns.map((column) => head(column.key, column.title, column.about))}</tr></thead>
          <tbody>
            {sorted.slice(0, all ? undefined : WINDOW).map((one) => (
              <tr key={one.move} class={one.order === 0 ? "best" : ""} tabIndex={0} onMouseEnter={() => onPreview(one.pv)} onMouseLeave={() => onPreview([])}
                onFocus={() => onPreview(one.pv)} onBlur={() => onPreview([])} onDblClick={() => onPlay?.(one.move)}
                onKeyDown={(event) => { if (event.key === "Enter" && event.target === event.currentTarget) onPlay?.(one.move); }}>
                <th scope="row"><i class="swatch" style={{ background: valueColour(one.winrate) }} />{one.move}{one.move === selected && <span class="next" title="The search goes here next: the highest score">▸</span>}</th>
                {columns.map((column) => (
                  <td key={column.key} class={column.bar ? `bar ${column.key}` : column.key}>
                    {column.bar && <span style={{ width: `${((100 * column.bar(one)) / longest).toFixed(1)}%`, background: column.key === "share" ? valueColour(one.winrate) : undefined }} />}
                    {column.cell(one)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > WINDOW && <button class="quiet" onClick={() => setAll(!all)}>{all ? `Show ${WINDOW} moves` : `Show all ${rows.length} moves`}</button>}
    </>
  );
}

function compare(a: number | string | null, b: number | string | null, down: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const found = typeof a === "string" ? a.localeCompare(String(b), "en", { numeric: true }) : a === b ? 0 : a - Number(b);
  return down ? -found : found;
}

function badge(one: MoveInfo): preact.ComponentChildren {
  if (!one.bounds) return "–";
  const [low, high] = one.bounds;
  return low === high ? <span class="badge">{low > 0 ? "won" : low < 0 ? "lost" : "drawn"} {low}</span> : `${low} … ${high}`;
}
