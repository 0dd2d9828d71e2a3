import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import type { FeedEvent } from '../../reference/feed.ts';
import { createReference, type ReferenceDeployment } from '../../reference/index.ts';
import type { StoredMessage } from '../../reference/messages.ts';
import { followPages, type Page } from '../../support/http/followPages.ts';
import { listDifferences } from '../../support/reference/listDifferences.ts';
import type { ServiceProcess } from '../processes/simulatedService.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { SimulationFailure } from './failure.ts';

/** Shared views agree again within this time. */
const agreementMs = 40_000;
const againMs = 2_000;
const differencesShown = 6;
/** A replica of an earlier version may answer this, because nobody writes its tables any more (`deploy/RUNBOOK.md`, Upgrade). */
const withoutRows = '503 {"error":"database_unavailable"}';

/** Checks that every process answers each path as the reference does, from the same streams. */
export async function compareWithReference(
  processes: readonly ServiceProcess[],
  world: SimulatedWorld,
  follow: () => Reference,
  paths: readonly string[],
): Promise<void> {
  const { time } = world;
  const nowMs = () => time.within(time.outside, time.wallMs);
  let reference = follow();
  for (const process of processes) {
    const isOutdated = process.domain.versions !== world.time.versions;
    for (const path of paths.flatMap(fill)) await agree(process, path, isOutdated ? withoutRows : null);
  }

  /** The paths of a form: a name in braces is a member of the newest and the oldest event of each type. */
  function fill(form: string): string[] {
    const [, name] = /\{(\w+)\}/.exec(form) ?? [];
    if (name === undefined) return [form];
    const { events = [] } = reference.measure('/v1/events', nowMs()) as { events?: FeedEvent[] };
    const ofType = (event: FeedEvent) => (one: FeedEvent) => one.type === event.type;
    const named = events.filter(
      (event) => event === events.find(ofType(event)) || event === events.findLast(ofType(event)),
    );
    const values = named.map((event) =>
      String({ ...event, ...event.source, ...event.payload }[name as 'id'] ?? 0),
    );
    // Round 0 is before the first one.
    return [...new Set(values)]
      .filter((value) => value !== '0')
      .map((value) => form.replace(`{${name}}`, value));
  }

  /** Asks again while a view may be shared. */
  async function agree(process: ServiceProcess, path: string, allowed: string | null) {
    const untilMs = time.nowMs() + agreementMs;
    for (;;) {
      const difference = await findDifference(process, path);
      // A standby that woke first after a silence has taken its place.
      if (difference === null || difference === allowed || !process.isAlive) return;
      if (time.nowMs() > untilMs)
        throw new SimulationFailure('answers', `${process.name} ${path}: ${difference}`);
      await world.sleep(againMs);
      reference = follow();
    }
  }

  /** How an answer differs from the reference, or why it is absent; null if it agrees. */
  async function findDifference(process: ServiceProcess, path: string): Promise<string | null> {
    const answer = await followPages(path, (page) => read(process, page));
    if (typeof answer === 'string') return answer;
    // A shared view names the time of its computation.
    const shownMs = answer.generatedAt === undefined ? nowMs() : Date.parse(answer.generatedAt);
    const differences = listDifferences(answer, reference.measure(path, shownMs));
    return differences.length === 0 ? null : JSON.stringify(differences.slice(0, differencesShown));
  }
}

/** The body, or a text that explains its absence. */
async function read(process: ServiceProcess, path: string): Promise<Page | string> {
  const response = await process.get(path);
  return response?.status === 200 || response?.status === 404
    ? (JSON.parse(response.body.toString('utf8')) as Page)
    : `${response?.status} ${response?.body}`;
}

export type Reference = ReturnType<typeof createReference>;

/** Returns the reference of the streams, computed again only after they have changed. */
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

const toStored = ({ seq, subject, data, timestampNanos }: StreamMessage): StoredMessage => ({
  seq,
  subject,
  data,
  storedAtMs: Number(timestampNanos / 1_000_000n),
});
