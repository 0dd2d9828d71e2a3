import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { encodeFeedPosition } from '../../../actors/feed/feedPosition.ts';
import type { BodyExamples, Examples } from '../../../http/routes/documentation/examples.ts';
import { nameBody, type Route } from '../../../http/routes/route.ts';
import { routes } from '../../../http/routes/routes.ts';

/** Number of items kept of a list without a page size. */
const itemsMax = 2;
const eventsMax = 2;

/**
 * Records responses of real services for the documentation. Pages are requested with few items; other lists are cut if their schema allows it.
 *
 * @param base URL of a service with all data.
 * @param unreadableBase URL of a service without a chain, whose bodies have `status: unavailable`.
 */
export async function recordExamples(base: string, unreadableBase: string): Promise<Examples> {
  const values = await findValues(base);
  const bodies: Record<string, BodyExamples> = {};
  for (const route of routes) {
    const id = nameBody(route);
    if (id in bodies) continue;
    const answer = await read(base, route, values);
    const unavailable = await read(unreadableBase, route, values);
    const isUnavailable = (unavailable as { status?: string }).status === 'unavailable';
    bodies[id] = isUnavailable ? { answer, unavailable } : { answer };
  }
  return { bodies, eventStream: await recordStream(base) };
}

type Values = Readonly<Record<string, string>>;

/** Chooses parameters: the owner with the most positions, whose list has a next page, one of its tokens, and a batch with work. */
async function findValues(base: string): Promise<Values> {
  const json = (path: string) => get(`${base}${path}`);
  const { installationId } = (await json('/v1/public/telemetry')) as { installationId: string };
  type Minted = { events: { payload: { owner?: string } }[] };
  const { events } = (await json('/v1/events?category=players&limit=100')) as Minted;
  const owners = [...new Set(events.flatMap(({ payload }) => payload.owner ?? []))];
  type Portfolio = { positions: { tokenId: string }[] };
  const portfolios = await Promise.all(
    owners.map(async (owner) => ({
      owner,
      positions: ((await json(`/v1/owners/${owner}/miners`)) as Portfolio).positions,
    })),
  );
  const [largest] = portfolios.sort((a, b) => b.positions.length - a.positions.length);
  const tokenId = largest?.positions[0]?.tokenId;
  if (largest === undefined || tokenId === undefined) throw new Error('nobody has a position');
  type Settled = {
    batches: {
      id: string;
      source: { transactionHash: string };
      payload: { settledThroughRound: string; workAdded: string };
    }[];
  };
  const { batches } = (await json('/v1/batches?limit=100')) as Settled;
  const batch = batches.find(({ payload }) => payload.workAdded !== '0');
  if (batch === undefined) throw new Error('no batch has work');
  const { source, payload } = batch;
  return {
    installationId,
    address: largest.owner,
    owner: largest.owner,
    tokenId,
    range: '7d',
    limit: '2',
    eventId: batch.id,
    transactionHash: source.transactionHash,
    round: payload.settledThroughRound,
    date: new Date(Date.now() - 36 * 3_600_000).toISOString().slice(0, 10),
    q: 'yesterday',
  };
}

async function read(base: string, route: Route, values: Values): Promise<unknown> {
  const path = route.path.replace(/\{(\w+)\}/, (_, name: string) => values[name] ?? name);
  const named = typeof route.query === 'string' ? [] : route.query.map(({ name }) => name);
  const query = named.flatMap((name) => (name in values ? [`${name}=${values[name]}`] : []));
  const body = await get(`${base}${path}?${query.join('&')}`.replace(/\?$/, ''));
  return cutLists(body, (cut) => route.response.safeParse(cut).success);
}

/** Requests as slowly as the service asks for, also while it is busy. */
async function request(url: string, options: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, options);
  if (response.status === 200) return response;
  if (response.status !== 429 && response.status !== 503) throw new Error(`${url}: ${response.status}`);
  await sleep(Number(response.headers.get('Retry-After')) * 1000);
  return request(url, options);
}

const get = async (url: string): Promise<unknown> => (await request(url)).json();

/** Keeps the first object of a list, and the first of another type. */
function cutLists<Body>(body: Body, isValid: (body: Body) => boolean): Body {
  const cut = structuredClone(body);
  const cutWithin = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (Array.isArray(member) && member.length > itemsMax && typeof member[0] === 'object') {
        const [first, ...others] = member;
        const other = others.find((one) => one.type !== first.type || one.kind !== first.kind) ?? others[0];
        Object.assign(value, { [name]: [first, other] });
        if (!isValid(cut)) Object.assign(value, { [name]: member });
      }
      cutWithin((value as Record<string, unknown>)[name]);
    }
  };
  cutWithin(cut);
  return cut;
}

/** Returns the text of a stream that resumes before its first event, through its second event. */
async function recordStream(base: string): Promise<string> {
  const ending = new AbortController();
  const resumed = { 'Last-Event-ID': encodeFeedPosition({ measurement: null, chain: null }) };
  const response = await request(`${base}/v1/events/stream`, { headers: resumed, signal: ending.signal });
  let text = '';
  for await (const piece of (response.body as ReadableStream<Uint8Array>).pipeThrough(
    new TextDecoderStream(),
  )) {
    text += piece;
    const messages = text.split(/(?<=\n\n)/);
    const through = messages.filter((message) => message.includes('\ndata: ') && message.endsWith('\n\n'));
    if (through.length < eventsMax) continue;
    ending.abort();
    return messages.slice(0, messages.indexOf(through[eventsMax - 1] as string) + 1).join('');
  }
  throw new Error('the stream has ended');
}

/** Splits a stream's text into events. */
export function parseStream(text: string): { type: string | undefined; data: unknown }[] {
  const events: { type: string | undefined; data: unknown }[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ type: event, data: JSON.parse(data) }),
  });
  parser.feed(text);
  return events;
}
