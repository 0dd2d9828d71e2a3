import { type AbiEvent, decodeEventLog, type Hex } from 'viem';
import { type ContractName, declarations } from './contractEvents.ts';
import { type Json, parsePayload, type StoredMessage, toIso } from './messages.ts';
import { rememberFor } from './remember.ts';

/** MESSAGES.md, Chain span and Chain reads; CONTRACT.md, Safe block and Unavailable reasons. */

export interface ChainDeployment {
  readonly chain: {
    readonly chainId: bigint;
    readonly deploymentBlock: bigint;
    readonly economyDeploymentBlock: bigint;
  };
  readonly contracts: Readonly<Record<ContractName, string>>;
}

/** Place of an event on the chain. */
export interface EventPlace {
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly blockTimestampMs: number;
  readonly blockTimestamp: string;
  readonly transactionHash: string;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** A contract's log, with lower-case addresses. */
export interface ChainEvent {
  readonly contract: ContractName;
  readonly address: string;
  readonly name: string;
  /** Arguments in the order of the declaration. */
  readonly args: Readonly<Record<string, never>>;
  readonly place: EventPlace;
  /** When the stream stored the span that made its block safe (epoch milliseconds). */
  readonly recordedAtMs: number;
}

interface Block {
  readonly number: bigint;
  readonly hash: string;
  readonly timestampMs: number;
  readonly logs: readonly Json[];
  /** Null while it is not safe. */
  safeSinceMs: number | null;
}

interface Span {
  readonly fork: number;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly parentHash: string;
  readonly blocks: readonly Block[];
  readonly part: { readonly index: number; readonly count: number } | null;
}

interface SpanBody {
  readonly fork: number;
  readonly fromBlock: string;
  readonly toBlock: string;
  readonly parentHash: string;
  readonly hash: string;
  readonly timestamp: string;
  readonly blocks: readonly {
    readonly number: string;
    readonly hash: string;
    readonly timestamp: string;
    readonly logs: readonly Json[];
  }[];
  readonly part?: Span['part'];
}

/** The chain as the stream has it. */
export interface IndexedChain {
  /** Whether the stream holds messages of this chain and core. */
  readonly isOfDeployment: boolean;
  /** Whether the stream holds messages of another chain or core. */
  readonly isOfOther: boolean;
  /** The newest indexed block; null before the first. */
  readonly indexedThrough: bigint | null;
  /** When the newest span was stored. */
  readonly newestSpanAtMs: number;
  /** Parent of the first block, to which the reads belong. */
  readonly rootHash: string | null;
  readonly blocks: readonly Block[];
  readonly proposers: readonly { readonly account: string; readonly isGranted: boolean }[];
}

export function followChain(
  messages: readonly StoredMessage[],
  { chain, contracts }: ChainDeployment,
): IndexedChain {
  let blocks: Block[] = [];
  let head: bigint | null = null;
  let forks = 0;
  let newestSpanAtMs = 0;
  let rootHash: string | null = null;
  let [isOfDeployment, isOfOther] = [false, false];
  let waiting: Span[] = [];
  const reads: Json[] = [];

  for (const message of messages) {
    const [, chainId, kind] = /^miner\.chain\.(\d+)\.(span|reads)$/.exec(message.subject) ?? [];
    const body = parsePayload(message, 256 * 1024);
    if (kind === undefined || body === null || !isAddress(body.core)) continue;
    if (chainId !== String(chain.chainId) || body.core !== contracts.core) {
      isOfOther = true;
      continue;
    }
    if (kind === 'reads') {
      reads.push(body);
      continue;
    }
    const span = readSpan(body);

    // A block in several messages is complete with its last part.
    let whole = span;
    if (span.part !== null) {
      const isNext =
        span.part.index === waiting.length &&
        waiting.every(
          (one) => one.parentHash === span.parentHash && one.blocks[0]?.hash === span.blocks[0]?.hash,
        );
      if (!isNext) waiting = [];
      if (span.part.index !== waiting.length) continue;
      waiting.push(span);
      if (waiting.length < span.part.count) continue;
      const [block] = span.blocks as [Block];
      const logs = waiting.flatMap((one) => one.blocks.flatMap((of) => of.logs));
      whole = { ...span, blocks: [{ ...block, logs }] };
    }
    waiting = [];

    const parentNumber = whole.fromBlock - 1n;
    const parent = blocks.find(({ number, hash }) => number === parentNumber && hash === whole.parentHash);
    const isFirst = head === null && whole.fromBlock === chain.deploymentBlock;
    const isNext = parent !== undefined && parentNumber === head;
    const mayReplace = head !== null && (whole.toBlock > head || whole.fork > forks);
    const isFork = parent !== undefined && mayReplace;
    const isRestart = head !== null && whole.fromBlock === chain.deploymentBlock && whole.fork > forks;
    if (!isFirst && !isNext && !isFork && !isRestart) continue; // unlinked_span
    if (isFirst || isRestart) rootHash = whole.parentHash;
    blocks = [...blocks.filter(({ number }) => number <= parentNumber && !isRestart), ...whole.blocks];
    if (!isNext) forks = Math.max(forks, isFirst ? 0 : whole.fork);
    head = whole.toBlock;
    newestSpanAtMs = message.storedAtMs;
    isOfDeployment = true;
    // The safe block has 12 confirmations, its own block counted.
    for (const block of blocks) if (block.number <= head - 11n) block.safeSinceMs ??= message.storedAtMs;
  }
  const readsOfParent = reads.findLast(
    ({ blockNumber, blockHash }) =>
      blockNumber === String(chain.deploymentBlock - 1n) && blockHash === rootHash,
  );
  return {
    isOfDeployment,
    isOfOther,
    indexedThrough: head,
    newestSpanAtMs,
    rootHash,
    blocks,
    proposers: (readsOfParent?.proposers ?? []) as IndexedChain['proposers'],
  };
}

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value);
/** The span of a message, which an indexer has published. */
function readSpan(body: Json): Span {
  const {
    fork,
    fromBlock,
    toBlock,
    parentHash,
    hash,
    timestamp,
    blocks: listed,
    part,
  } = body as unknown as SpanBody;
  const toBlockOf = (number: string, itsHash: string, at: string, logs: readonly Json[]): Block => ({
    number: BigInt(number),
    hash: itsHash,
    timestampMs: Date.parse(at),
    logs,
    safeSinceMs: null,
  });
  const blocks = listed.map((one) => toBlockOf(one.number, one.hash, one.timestamp, one.logs));
  // A span always names the hash and time of its last block.
  if (blocks.at(-1)?.number !== BigInt(toBlock)) blocks.push(toBlockOf(toBlock, hash, timestamp, []));
  return {
    fork,
    fromBlock: BigInt(fromBlock),
    toBlock: BigInt(toBlock),
    parentHash,
    blocks,
    part: part ?? null,
  };
}

/** The safe block, and all events through it. */
export interface SafeChain {
  readonly deployment: ChainDeployment;
  readonly indexedThrough: bigint;
  readonly block: { readonly number: bigint; readonly hash: string; readonly timestampMs: number };
  /** In the order of the chain. */
  readonly events: readonly ChainEvent[];
  readonly proposers: IndexedChain['proposers'];
}

/** The chain at its safe block; null before any is safe. */
export function readSafeChain(indexed: IndexedChain, deployment: ChainDeployment): SafeChain | null {
  const through = (indexed.indexedThrough ?? 0n) - 11n;
  const safe = indexed.blocks.filter(({ number }) => number <= through);
  const block = safe.at(-1);
  if (block === undefined || indexed.indexedThrough === null) return null;
  const byAddress = new Map(Object.entries(deployment.contracts).map(([name, address]) => [address, name]));
  const events = safe.flatMap((one) =>
    one.logs.flatMap((log) =>
      decodeLog(log, one, byAddress.get(log.address as string) as ContractName | undefined),
    ),
  );
  return { deployment, indexedThrough: indexed.indexedThrough, block, events, proposers: indexed.proposers };
}

function decodeLog(log: Json, block: Block, contract: ContractName | undefined): ChainEvent[] {
  const topics = log.topics as [Hex];
  const declaration = declarations.get(`${contract} ${topics[0]}`);
  // No view reads other events.
  if (contract === undefined || declaration === undefined) return [];
  try {
    const { name, args } = decodeEvent(declaration, [...topics, log.data].join());
    const place = {
      blockNumber: block.number,
      blockHash: block.hash,
      blockTimestampMs: block.timestampMs,
      blockTimestamp: toIso(block.timestampMs),
      transactionHash: log.transactionHash as string,
      transactionIndex: log.transactionIndex as number,
      logIndex: log.logIndex as number,
    };
    return [
      {
        contract,
        address: log.address as string,
        name,
        args,
        place,
        recordedAtMs: block.safeSinceMs ?? 0,
      },
    ];
  } catch {
    return []; // The data do not fit the declaration.
  }
}

/** Decodes an event from its topics and data, joined by commas. */
const decodeEvent = rememberFor((declaration: AbiEvent, joined: string) => {
  const words = joined.split(',') as Hex[];
  const { eventName: name, args = {} } = decodeEventLog({
    abi: [declaration],
    topics: words.slice(0, -1) as [Hex],
    data: words.at(-1) as Hex,
  }) as unknown as { eventName: string; args?: Record<string, unknown> };
  const lowered = Object.entries(args).map(([argument, value]) => [
    argument,
    typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value) ? value.toLowerCase() : value,
  ]);
  return { name, args: Object.fromEntries(lowered) as ChainEvent['args'] };
});

/** How far the chain was read. */
export function showChain({ indexedThrough, block }: SafeChain) {
  return { indexedThroughBlock: indexedThrough, safeThroughBlock: block.number };
}

/** Arguments of the events of one name of a contract, with the event. */
export function listEvents<Arguments>(
  { events }: Pick<SafeChain, 'events'>,
  contract: ContractName,
  name: string,
): (ChainEvent & { readonly args: Arguments })[] {
  return events.filter((event) => event.contract === contract && event.name === name) as never;
}
