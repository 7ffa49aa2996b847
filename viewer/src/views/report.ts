/** The review of a game as a page of its own, without scripts, to be saved and sent. */

import type { ReviewRow } from "../api";

/** A loss, as a share of the way from the worst to the best result, and what it is called. */
export const LOSSES: [number, string, string][] = [[0.2, "blunder", "??"], [0.1, "mistake", "?"], [0.05, "inaccuracy", "?!"]];
export const lossOf = (loss: number) => LOSSES.find(([least]) => loss >= least);
/** A loss in points, hundredths of that way. */
export const lost = (loss: number) => `${(100 * loss).toFixed(0)} points`;
export const countOf = (count: number, name: string) => `${count} ${count === 1 ? name : name === "inaccuracy" ? "inaccuracies" : `${name}s`}`;

/** The value after each move for the first player; in games of more or fewer players for the player who moved. */
export const valuesOf = (rows: ReviewRow[], players: number) => rows.map((row) => (row.player === 0 || players !== 2 ? row.winrate : 1 - row.winrate));

const escape = (text: string) => text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]!);

/** Return the page. */
export function report(rows: ReviewRow[], game: string, players: number, moves: string[]): string {
  const lines = rows.map((row) => `<tr class="${lossOf(row.loss)?.[1] ?? ""}"><td>${row.ply + 1}</td><td>${row.player + 1}</td><td><b>${escape(row.move)}</b> ${lossOf(row.loss)?.[2] ?? ""}</td><td>${(100 * row.winrate).toFixed(1)}%</td><td>${(100 * row.loss).toFixed(1)}</td><td>${escape(row.best)}</td><td>${escape(row.pv.slice(0, 6).join(" "))}</td></tr>`);
  const totals = Array.from({ length: players }, (_, player) => {
    const own = rows.filter((row) => row.player === player);
    const mean = own.reduce((sum, row) => sum + row.loss, 0) / Math.max(1, own.length);
    const counts = LOSSES.map(([least, name]) => [own.filter((row) => lossOf(row.loss)?.[0] === least).length, name] as const).filter(([count]) => count);
    return `<li><b>Player ${player + 1}</b>: ${(100 * mean).toFixed(1)} points lost a move${counts.map(([count, name]) => `, ${countOf(count, name)}`).join("")}</li>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Review of ${escape(game)}</title>
<style>body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:52rem;padding:0 1rem;color:#22252a}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}td,th{padding:.25rem .7rem;text-align:left;border-bottom:1px solid #e2e3df}td:nth-child(4),td:nth-child(5){text-align:right}.blunder{background:#f7dcdc}.mistake{background:#f8e6d8}.inaccuracy{background:#f8f1d8}svg{width:100%;height:auto}pre{white-space:pre-wrap;background:#f4f4f2;padding:.6rem;border-radius:6px}</style></head>
<body><h1>Review of ${escape(game)}</h1>
${graph(valuesOf(rows, players))}
<p>${players === 2 ? "The value of the game for player 1" : "The value for the player who moved"}, from 0% (worst result) to 100% (best), over its moves. Points are hundredths of that range.</p>
<ul>${totals.join("")}</ul>
<table><thead><tr><th>#</th><th>player</th><th>move</th><th>value</th><th>lost</th><th>best</th><th>expected</th></tr></thead><tbody>${lines.join("\n")}</tbody></table>
<h2>Moves</h2><pre>game: ${escape(game)}
${escape(moves.join(" "))}</pre></body></html>
`;
}

function graph(values: number[]): string {
  const x = (place: number) => (values.length < 2 ? 400 : 10 + (780 * place) / (values.length - 1));
  const points = values.map((value, place) => `${x(place).toFixed(1)},${(10 + 180 * (1 - value)).toFixed(1)}`).join(" ");
  return `<svg viewBox="0 0 800 200" role="img" aria-label="The value over the moves"><rect x="10" y="10" width="780" height="180" fill="#fbfbf9" stroke="#e2e3df"/><line x1="10" y1="100" x2="790" y2="100" stroke="#c9ccc6"/><polyline points="${points}" fill="none" stroke="#2f7d5b" stroke-width="2.5"/></svg>`;
}
