/** What the server would answer, from the snapshot of one search. */

import { api, ServerError, type Analysis, type Position, type Tree, type TreeNode } from "../api";

export interface Snapshot {
  game: string; position: Position; elapsed: number; tree: Tree | null;
  analysis: Omit<Analysis, "type" | "over" | "ply"> & { left: number };
}

/** Let the views read the tree of a snapshot. */
export function readFrom(snapshot: Snapshot): void {
  const { tree } = snapshot;
  api.tree = (_session, path) =>
    tree ? Promise.resolve(below(tree, path)) : Promise.reject(new ServerError("This page has no tree."));
}

/** The nodes below the one that a path leads to. */
function below(tree: Tree, path: number[]): Tree {
  const moves: string[] = [];
  let top = 0;
  for (const action of path) {
    const next = tree.nodes.findIndex((node) => node.parent === top && node.action === action);
    if (next < 0) throw new ServerError("This page has no node there: it holds the most visited ones only.");
    moves.push(tree.nodes[next]!.move);
    top = next;
  }
  if (!path.length) return tree;
  const places = new Map<number, number>([[top, 0]]);
  const nodes: TreeNode[] = [{ ...tree.nodes[top]!, parent: -1 }];
  tree.nodes.forEach((node, index) => {
    const parent = places.get(node.parent);
    if (parent === undefined || index === top) return;
    places.set(index, nodes.length);
    nodes.push({ ...node, parent });
  });
  return { ...tree, path, moves, nodes };
}
