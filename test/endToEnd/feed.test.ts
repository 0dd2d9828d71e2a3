import { jetstream } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import { buildChainMembers } from '../support/chain/buildChainMembers.ts';
import { startEconomy } from '../support/chain/testEconomy.ts';
import { genesisMs } from '../support/genesis.ts';
import { listen, type Message } from '../support/http/eventSource.ts';
import { eventually } from '../support/processes/childProcess.ts';
import {
  type MinerProcess,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { readingMessage, toPublication } from '../support/readings/readingMessages.ts';

const category = 'category=measurement';

interface Event {
  readonly id: string;
  readonly recordedAt: string;
  readonly source: { readonly receiptCursor: string };
}
interface Page {
  readonly events: readonly Event[];
  readonly nextCursor: string | null;
}

/** All events of the measurements page by page, and the cursor of each page. */
async function walk(miner: MinerProcess) {
  const events: Event[] = [];
  const cursors: string[] = [];
  for (let cursor = ''; ; ) {
    const page: Page = await miner.json(`/v1/events?${category}&limit=100${cursor && `&cursor=${cursor}`}`);
    events.push(...page.events);
    if (page.nextCursor === null) return { events, cursors };
    cursor = page.nextCursor;
    cursors.push(cursor);
  }
}

describe('the event feed, end to end', () => {
  it('is complete through a kill: old pages are there when it is ready, and a client that resumes receives each event once', async () => {
    const economy = await startEconomy();
    // The token is deployed with the economy; its blocks have to be safe.
    for (let block = 0; block < 12; block++) await economy.mine();
    const nats = await startNats();
    const dataDir = temporaryDirectory();
    const start = () =>
      startMiner({
        natsUrl: nats.url,
        dataDir,
        onChain: buildChainMembers(economy),
        environment: { MINER_RPC_URL: economy.url },
      });
    const first = await start();
    await waitUntilReady(first);
    const js = jetstream((await connectTo(nats)).connection);
    // Each passes a hundred distances. A late reading is received, and so recorded, long before it arrives.
    const publish = async (fromIndex: number, toIndex: number, lateMs = 0) => {
      for (let index = fromIndex; index < toIndex; index++) {
        const reading = readingMessage('wheel.one', index, {
          distanceMm: (index + 1) * 5_000_000_000,
          receivedAt: new Date(genesisMs + index * 10_000 - lateMs).toISOString(),
        });
        const { subject, body } = toPublication(reading);
        await js.publish(subject, body);
      }
    };
    await publish(0, 30);
    await waitUntilFolded(first, 30);
    const available = async () => (await first.json<{ status: string }>('/v1/events')).status === 'available';
    await eventually(available, 'a feed');

    const client = await listen(first.publicUrl, `/v1/events/stream?${category}`);
    await eventually(() => client.state.lastId !== '', 'an ID');
    await publish(30, 40);
    await eventually(() => client.messages.length > 500, 'some events');
    client.end();
    const before = await walk(first);
    await waitUntilFolded(first, 40);
    const deep = before.cursors.at(-2) as string;
    const page = (miner: MinerProcess) =>
      fetch(`${miner.publicUrl}/v1/events?${category}&limit=100&cursor=${deep}`);
    const pageBefore = (await (await page(first)).json()) as Page;
    await first.end('SIGKILL');

    await publish(40, 50, 250_000);
    const second = await start();
    await waitUntilReady(second);
    const found = await page(second);
    expect(found.status).toBe(200);
    const pageAfter = (await found.json()) as Page;
    expect(pageAfter.events).toEqual(pageBefore.events);
    await waitUntilFolded(second, 50);
    const after = await walk(second);
    expect(new Set(after.events.map(({ id }) => id)).size).toBe(after.events.length);
    const places = after.events.map(({ recordedAt, source, id }) => [recordedAt, source.receiptCursor, id]);
    expect(places).toEqual(
      places.toSorted(
        ([timeA, cursorA, idA], [timeB, cursorB, idB]) =>
          Date.parse(timeB as string) - Date.parse(timeA as string) ||
          Number(cursorB) - Number(cursorA) ||
          ((idA as string) < (idB as string) ? -1 : 1),
      ),
    );

    // The last event is sent again if the client did not read it completely.
    const seen = client.messages.slice(0, 450);
    const { id } = seen.at(-1) as Message;
    const again = await listen(second.publicUrl, `/v1/events/stream?${category}`, { 'Last-Event-ID': id });
    const missed = after.events.filter(({ source }) => Number(source.receiptCursor) > 30);
    await eventually(() => seen.length + again.messages.length >= missed.length, 'the missed events', 30_000);
    const delivered = [...seen, ...again.messages].map(({ data }) => data.id);
    expect(delivered.toSorted()).toEqual(missed.map((event) => event.id).toSorted());
  });
});
