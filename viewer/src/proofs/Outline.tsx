import { useEffect, useRef } from "preact/hooks";
import { choose, chosen, fold, items, keysOfOutline, SIGNS } from "./walking";
import { label } from "./layout";

const name = (key: string) => `outline-${key}`;

/** The same graph as a tree of rows, for reading and for screen readers. */
export function Outline() {
  const here = chosen.value;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const row = here && document.getElementById(name(here.key));
    const list = place.current!;
    if (!row) return;
    if (row.offsetTop < list.scrollTop) list.scrollTop = row.offsetTop;
    else if (row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = row.offsetTop + row.offsetHeight - list.clientHeight;
  }, [here?.key]);
  return (
    <div ref={place} class="outline" role="tree" tabIndex={0} aria-label="Goals and tactics" aria-describedby="proof-keys"
      aria-activedescendant={here ? name(here.key) : undefined} onKeyDown={keysOfOutline}>
      {items.value.map((item) => {
        const { node } = item;
        const beside = item.parent?.children ?? [item];
        const note = [node.kind === "tactic" && node.failed ? node.reason : "", item.node.kind === "goal" && item.node.left ? `${item.node.left} more` : ""].filter(Boolean).join("; ");
        return (
          <div key={item.key} id={name(item.key)} role="treeitem" aria-level={item.level} aria-setsize={beside.length}
            aria-posinset={beside.indexOf(item) + 1} aria-expanded={item.children.length ? !item.folded : undefined}
            aria-selected={item === here} class={`${node.kind} ${node.status} ${node.proof ? "proof" : ""}`}
            style={{ paddingLeft: `${0.4 + Math.min(item.level - 1, 24) * 0.85}rem` }}
            onClick={() => choose(item)} onDblClick={() => fold(item)}>
            <span class="twist" aria-hidden="true">{item.children.length ? (item.folded ? "▸" : "▾") : ""}</span>
            <span class="sign" aria-hidden="true">{SIGNS[node.status]}</span>
            <span class="hidden">{node.kind} {node.status}{node.proof ? ", part of the proof" : ""}</span>
            <code>{label(node)}</code>
            {note && <small>{note}</small>}
            <span class="visits">{node.visits.toLocaleString("en")}<span class="hidden"> visits</span></span>
          </div>
        );
      })}
    </div>
  );
}
