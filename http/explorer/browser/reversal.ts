/** The newest settled round that a page shows, with its core contract and safe block. */
interface Settled {
  readonly core: string;
  readonly round: number;
  readonly block: number;
}

/**
 * Notices that rounds which were shown as settled are not settled any more. In one chain the settled rounds only grow, so fewer of them at the same
 * block or a later one mean that a reorganization has replaced the chain. Fewer at an earlier block mean nothing: another server may be behind.
 *
 * @returns a function that compares what the page shows now with what it showed before, and marks the page.
 */
export function watchReversals(body: HTMLElement): () => void {
  let seen = readSettled(body);
  return () => {
    const shown = readSettled(body);
    if (shown === null) return;
    const before = seen !== null && seen.core === shown.core && shown.round < seen.round ? seen : null;
    const isReverted = before !== null && shown.block >= before.block;
    document.documentElement.classList.toggle('is-reverted', isReverted);
    if (before === null) seen = shown;
    if (!isReverted) return;
    setTexts('.first-round', shown.round + 1);
    setTexts('.last-round', before.round);
  };
}

/** Written by `renderPage`. */
function readSettled({ dataset: { settled, safeBlock } }: HTMLElement): Settled | null {
  const [core, round] = settled?.split(' ') ?? [];
  return core === undefined ? null : { core, round: Number(round), block: Number(safeBlock) };
}

function setTexts(selector: string, value: number) {
  for (const element of document.querySelectorAll(selector)) element.textContent = String(value);
}
