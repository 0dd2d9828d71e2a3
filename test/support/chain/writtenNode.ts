import { onTestFinished, vi } from 'vitest';
import { answerCall, type RpcAnswer, type RpcCall } from '../../simulation/chain/answerCall.ts';
import { createEconomyState } from '../../simulation/chain/contracts/contractState.ts';
import { type SealedBlock, sealBlock } from '../../simulation/chain/sealBlock.ts';
import type { WrittenEvent } from './writtenSpans.ts';

/** What a node does with a call or a batch instead: answers otherwise, refuses with a status, or stays silent. Null for nothing. */
type Fate = RpcAnswer | { readonly status: number } | 'silence' | null;

export interface WrittenNode {
  readonly url: string;
  blocks: readonly SealedBlock[];
  /** All calls, in order; a batch has several. */
  readonly calls: RpcCall[];
  onCall: (call: RpcCall) => Fate;
  onBatch: (calls: readonly RpcCall[]) => Fate;
}

/** A chain with a transaction in each block that has events. A branch shares its first blocks with another. */
export async function writeChain(
  events: readonly (readonly WrittenEvent[])[],
  { salt = 0n, shared = [] }: { readonly salt?: bigint; readonly shared?: readonly SealedBlock[] } = {},
): Promise<SealedBlock[]> {
  const state = createEconomyState(0n);
  const blocks = [...shared];
  for (const [at, written] of events.entries()) {
    if (at < shared.length) continue;
    const transactions = [{ nonce: BigInt(at), act: () => undefined, events: written, isReverted: false }];
    blocks.push(
      await sealBlock({
        number: BigInt(at),
        parentHash: blocks.at(-1)?.hash ?? `0x${'0'.repeat(64)}`,
        timestamp: 1_700_000_000n + 12n * BigInt(at),
        transactions: written.length === 0 ? [] : transactions,
        state,
        salt,
        isUnknownFork: false,
      }),
    );
  }
  return blocks;
}

/** Nodes behind `fetch` until the test ends. Each begins honest, with these blocks. */
export function serveChains(...chains: readonly (readonly SealedBlock[])[]): WrittenNode[] {
  const nodes = chains.map(
    (blocks, at): WrittenNode => ({
      url: `http://node-${at}/`,
      blocks,
      calls: [],
      onCall: () => null,
      onBatch: () => null,
    }),
  );
  vi.stubGlobal('fetch', async (url: URL, { body, signal }: { body: string; signal: AbortSignal }) => {
    const node = nodes.find((one) => one.url === url.href);
    if (node === undefined) throw new TypeError('fetch failed');
    const request = JSON.parse(body) as RpcCall | RpcCall[];
    const calls = [request].flat();
    node.calls.push(...calls);
    const answers = calls.map((call) => ({
      call,
      fate: node.onCall(call) ?? answerCall(node.blocks, call),
    }));
    const ofBatch = Array.isArray(request) ? node.onBatch(calls) : null;
    const fates = [ofBatch, ...answers.map(({ fate }) => fate)];
    const whole = fates.find((fate) => fate === 'silence' || (fate !== null && 'status' in fate));
    if (whole === 'silence')
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    if (whole !== undefined && whole !== null && 'status' in whole) return new Response('', whole);
    const results = answers.map(({ call, fate }) => ({
      jsonrpc: '2.0',
      id: call.id,
      ...(fate as RpcAnswer),
    }));
    const headers = { 'Content-Type': 'application/json' };
    const answer = Array.isArray(request) ? (ofBatch ?? results) : results[0];
    return new Response(JSON.stringify(answer), { headers });
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  return nodes;
}
