import { createReference, type Place, type ReferenceDeployment } from '../../reference/index.ts';
import type { StoredMessage } from '../../reference/messages.ts';
import { listDifferences } from '../../support/reference/compareBodies.ts';
import type { StoredStreamMessage } from '../nats/storedStream.ts';
import type { ServiceProcess } from '../processes/serviceProcess.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { SimulationFailure } from './failure.ts';

/** What is shared for some time, and depends on when it was computed, is the same again by then. */
const agreementMs = 40_000;
const againMs = 2_000;
const differencesShown = 6;
/** What a replica of an earlier version may say of rows: its tables are not written any more (`deploy/RUNBOOK.md`, Upgrade). */
const withoutRows = '503 {"error":"database_unavailable"}';

interface Page {
  readonly generatedAt?: string;
  readonly chain?: { readonly safeThroughBlock: string };
  readonly nextCursor?: string | null;
  readonly events?: readonly { readonly id: string }[];
  readonly activity?: readonly { readonly id: string }[];
  readonly positions?: readonly { readonly tokenId: string }[];
}

/** Every process shows at each path what the reference says of the messages that the streams hold. */
export async function compareWithReference(
  processes: readonly ServiceProcess[],
  world: SimulatedWorld,
  follow: () => Reference,
  paths: readonly string[],
): Promise<void> {
  const { time } = world;
  let reference = follow();
  for (const process of processes) {
    const isOutdated = process.domain.versions !== world.time.versions;
    for (const path of paths) await agree(process, path, isOutdated ? withoutRows : null);
  }

  /** Asks again for as long as a view may be shared. */
  async function agree(process: ServiceProcess, path: string, allowed: string | null) {
    const untilMs = time.nowMs() + agreementMs;
    for (;;) {
      const difference = await comparePages(process, path);
      if (difference === null || difference === allowed) return;
      if (time.nowMs() > untilMs)
        throw new SimulationFailure('answers', `${process.name} ${path}: ${difference}`);
      await world.sleep(againMs);
      reference = follow();
    }
  }

  /** The first differences of a body, or of its pages through the last one, in words; null for none. */
  async function comparePages(process: ServiceProcess, path: string): Promise<string | null> {
    let page = await read(process, path, null);
    while (typeof page !== 'string' && page.nextCursor != null) {
      const behind = page.positions?.at(-1)?.tokenId ?? (page.activity ?? page.events)?.at(-1)?.id ?? '';
      // Pages of the feed are not of a block.
      const { chain, events } = page;
      const atBlock = events === undefined && chain ? { atBlock: BigInt(chain.safeThroughBlock) } : {};
      page = await read(process, `${path}&cursor=${page.nextCursor}`, { behind, ...atBlock });
    }
    return typeof page === 'string' ? page : null;
  }

  /** The body, or what is wrong with it. */
  async function read(process: ServiceProcess, path: string, place: Place | null): Promise<Page | string> {
    const response = await process.get(path);
    if (response?.status !== 200) return `${response?.status} ${response?.body}`;
    const page = JSON.parse(response.body.toString('utf8')) as Page;
    // A view that is shared says when it was computed.
    const shownMs =
      page.generatedAt === undefined ? time.within(time.outside, time.wallMs) : Date.parse(page.generatedAt);
    const differences = listDifferences(page, reference.body(path, shownMs, place));
    return differences.length === 0 ? page : JSON.stringify(differences.slice(0, differencesShown));
  }
}

export type Reference = ReturnType<typeof createReference>;

/** The reference of what the streams hold, which is folded again only once they hold something else. */
export function followStreams(world: SimulatedWorld, deployment: ReferenceDeployment): () => Reference {
  let held: Held | null = null;
  let reference: Reference;
  const isSame = (one: Held['chain'], other: Held['chain']) =>
    one.length === other.length && one.every(({ data }, index) => data === other[index]?.data);
  return () => {
    const before = held;
    const now = readStreams(world);
    if (before === null || !names.every((name) => isSame(before[name], now[name])))
      reference = createReference({ deployment, ...now });
    held = now;
    return reference;
  };
}

const names = ['counter', 'pipeline', 'chain'] as const;
type Held = Record<(typeof names)[number], readonly StoredMessage[]>;

function readStreams({ nats: { store } }: SimulatedWorld): Held {
  const read = (name: string) => {
    const stream = store.streams.get(name);
    return stream === undefined
      ? []
      : [...stream.retired.values(), ...stream.messages.values()].map(toStored);
  };
  return { counter: read('MINER_COUNTER'), pipeline: read('MINER_PIPELINE'), chain: read('MINER_CHAIN') };
}

const toStored = ({ sequence, subject, data, atNanos }: StoredStreamMessage): StoredMessage => ({
  seq: sequence,
  subject,
  data,
  storedAtMs: Number(atNanos / 1_000_000n),
});
