/** A CPU profile as V8 writes it, times in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The node that ran at each sample, by its ID. */
  readonly samples: readonly number[];
  /** Time from the sample before to each sample. */
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    /** From 0. */
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

/** A function as called by its callers, all of its calls together. */
interface Frame {
  readonly name: string;
  readonly place: string;
  /** With what it calls. */
  totalMicros: number;
  readonly children: Map<string, Frame>;
}

const widthPx = 1_600;
const rowPx = 18;
const characterPx = 6.6;
/** Narrower ones are left out; their callers show the time. */
const leastWidthPx = 0.5;

/**
 * Draws a profile as SVG: callers above what they call, widths by the time in a function and what it calls. Time in which nothing ran is left out.
 *
 * @returns a document of its own; pointing at a function shows its place and share.
 */
export function drawFlameGraph(profile: CpuProfile): string {
  const root = collectFrames(profile);
  const { totalMicros } = root;
  const rows: string[] = [];
  let depthMax = 0;

  function draw(frame: Frame, leftPx: number, depth: number) {
    const frameWidthPx = (frame.totalMicros / totalMicros) * widthPx;
    if (!(frameWidthPx >= leastWidthPx)) return;
    depthMax = Math.max(depthMax, depth);
    rows.push(drawFrame(frame, { totalMicros, leftPx, depth, frameWidthPx }));
    let childLeftPx = leftPx;
    for (const child of [...frame.children.values()].sort((a, b) => b.totalMicros - a.totalMicros)) {
      draw(child, childLeftPx, depth + 1);
      childLeftPx += (child.totalMicros / totalMicros) * widthPx;
    }
  }

  draw(root, 0, 0);
  const heightPx = (depthMax + 1) * rowPx;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${widthPx}" height="${heightPx}" font-family="monospace" font-size="11">`,
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}

/** Calls of the same function by the same callers become one. */
function collectFrames({ nodes, samples, timeDeltas }: CpuProfile): Frame {
  const selfMicros = new Map<number, number>();
  for (const [index, id] of samples.entries())
    selfMicros.set(id, (selfMicros.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const root = createFrame('all', '');
  const [top] = nodes;
  if (top !== undefined) root.totalMicros = addCalls(top, root);
  return root;

  /** @returns time in what the node calls. */
  function addCalls(node: ProfileNode, frame: Frame): number {
    let micros = 0;
    for (const id of node.children ?? []) {
      const called = byId.get(id);
      if (called === undefined || called.callFrame.functionName === '(idle)') continue;
      const { functionName, url, lineNumber } = called.callFrame;
      const name = functionName === '' ? '(anonymous)' : functionName;
      const place = url === '' ? '' : `${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`;
      const key = `${name} ${place}`;
      const child = frame.children.get(key) ?? createFrame(name, place);
      frame.children.set(key, child);
      const calledMicros = (selfMicros.get(id) ?? 0) + addCalls(called, child);
      child.totalMicros += calledMicros;
      micros += calledMicros;
    }
    return micros;
  }
}

function createFrame(name: string, place: string): Frame {
  return { name, place, totalMicros: 0, children: new Map() };
}

interface Box {
  /** Of the whole profile. */
  readonly totalMicros: number;
  readonly leftPx: number;
  readonly depth: number;
  readonly frameWidthPx: number;
}

function drawFrame(
  { name, place, totalMicros: micros }: Frame,
  { totalMicros, leftPx, depth, frameWidthPx }: Box,
): string {
  const share = `${((micros / totalMicros) * 100).toFixed(1)} %, ${(micros / 1_000).toFixed(1)} ms`;
  const title = escapeXml(`${name}${place === '' ? '' : ` (${place})`}: ${share}`);
  const text = name.slice(0, Math.max(0, Math.floor(frameWidthPx / characterPx) - 1));
  const [x, y] = [leftPx.toFixed(1), depth * rowPx];
  return [
    `<g><title>${title}</title>`,
    `<rect x="${x}" y="${y}" width="${frameWidthPx.toFixed(1)}" height="${rowPx - 1}" fill="hsl(${hueOf(place)} 65% 75%)"/>`,
    text === '' ? '' : `<text x="${(leftPx + 3).toFixed(1)}" y="${y + 13}">${escapeXml(text)}</text>`,
    '</g>',
  ].join('');
}

/** One colour for each file. */
function hueOf(place: string): number {
  const file = place.split(':', 1)[0] as string;
  return [...file].reduce((hash, character) => (hash * 31 + character.charCodeAt(0)) % 360, 20);
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
