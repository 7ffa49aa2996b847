/** What a page or a widget is given: one search as it stood. */

import type { Analysis, Position, Tree, TreeNode } from "../api";

export interface Snapshot {
  game: string; position: Position; elapsed: number; tree: Tree | null;
  analysis: Omit<Analysis, "type" | "over" | "ply"> & { left: number };
}

/** The part of a tree below the node that a path leads to, as far as it is there. */
export function below(tree: Tree, path: number[]): Tree {
  const moves: string[] = [];
  let top = 0;
  for (const action of path) {
    const next = tree.nodes.findIndex((node) => node.parent === top && node.action === action);
    if (next < 0) break;
    moves.push(tree.nodes[next]!.move);
    top = next;
  }
  if (top === 0) return tree;
  const places = new Map<number, number>([[top, 0]]);
  const nodes: TreeNode[] = [{ ...tree.nodes[top]!, parent: -1 }];
  tree.nodes.forEach((node, index) => {
    const parent = places.get(node.parent);
    if (parent === undefined) return;
    places.set(index, nodes.length);
    nodes.push({ ...node, parent });
  });
  return { ...tree, path, moves, nodes };
}
