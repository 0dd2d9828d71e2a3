import { get } from 'node:http';
import { type Contender, measureInterleaved } from './measureInterleaved.ts';
import type { ResultTable } from './results.ts';
import type { Server } from './servers.ts';
import { measureLoad } from './wrk.ts';

/** One second of load and at least five rounds suffice, in the time that a developer waits. */
const secondsOfLoad = 1;

interface PollingCase {
  readonly title: string;
  readonly path: string;
  readonly encoding: string;
  /** Whether the client already has the answer. */
  readonly isConditional: boolean;
}

export const pollingCases: readonly PollingCase[] = [
  buildCase('/v4/public/process'),
  buildCase('/v4/public/process', { isConditional: true }),
  buildCase('/v1/status'),
  buildCase('/v2/public/stats?range=30d'),
  buildCase('/v2/public/stats?range=30d', { encoding: 'gzip' }),
  buildCase('/v2/public/stats?range=30d', { encoding: 'br' }),
];

function buildCase(path: string, options: Partial<PollingCase> = {}): PollingCase {
  const { encoding = 'identity', isConditional = false } = options;
  const title = `\`${path}\`, ${isConditional ? '304' : '200'}${encoding === 'identity' ? '' : `, ${encoding}`}`;
  return { title, path, encoding, isConditional };
}

interface PolledServer extends Pick<Server, 'url' | 'pid'> {
  readonly name: string;
}

/**
 * Measures polling of servers, in turns, a table for each request.
 *
 * @param servers our own first.
 * @throws Error if a server gives another answer than the expected one.
 */
export async function measureCases(
  cases: readonly PollingCase[],
  rounds: number,
  servers: readonly PolledServer[],
): Promise<ResultTable[]> {
  const tables: ResultTable[] = [];
  for (const one of cases) {
    process.stderr.write(`${one.title}\n`);
    const contenders = await Promise.all(servers.map((server) => buildContender(server, one)));
    const series = await measureInterleaved(contenders, rounds, { areWarm: tables.length > 0 });
    tables.push({ title: one.title, unit: 'requests/s', series });
  }
  return tables;
}

async function buildContender(server: PolledServer, one: PollingCase): Promise<Contender> {
  const { headers, answer } = await requestCase(server.url, one);
  const contentEncoding = findHeader(answer, 'content-encoding') ?? 'identity';
  if (
    answer.status !== (one.isConditional ? 304 : 200) ||
    (!one.isConditional && contentEncoding !== one.encoding)
  )
    throw new Error(`${server.name} answers ${one.path} with ${answer.status}, ${contentEncoding}`);
  const load = { url: `${server.url}${one.path}`, headers, seconds: secondsOfLoad };
  return { name: server.name, measure: () => measureLoad(load, server.pid) };
}

/** An answer of the bare handler: the service's own answer to the same request. */
export interface PreparedAnswer {
  readonly path: string;
  /** `Accept-Encoding` of the request; `identity` without one. */
  readonly encoding: string;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Null if the client already has it: `If-None-Match` fits the tag. */
  readonly body: string | null;
}

type Answer = Omit<PreparedAnswer, 'path' | 'encoding'>;

/** A server's answer to a request, and the headers of that request. */
export async function requestCase(
  base: string,
  { path, encoding, isConditional }: PollingCase,
): Promise<{ readonly headers: Record<string, string>; readonly answer: Answer }> {
  const url = `${base}${path}`;
  const accepted = encoding === 'identity' ? {} : { 'accept-encoding': encoding };
  const first = await readAnswer(url, accepted);
  if (!isConditional) return { headers: accepted, answer: first };
  const headers = { ...accepted, 'if-none-match': findHeader(first, 'etag') ?? '' };
  return { headers, answer: await readAnswer(url, headers) };
}

function findHeader({ headers }: Answer, name: string): string | undefined {
  return headers.find(([header]) => header === name)?.[1];
}

/** Reads an answer unchanged, without the headers that every server writes itself. */
function readAnswer(url: string, headers: Record<string, string>): Promise<Answer> {
  const own = ['date', 'content-length', 'connection', 'keep-alive', 'transfer-encoding', 'server'];
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const names = response.rawHeaders.filter((_, index) => index % 2 === 0);
        const pairs = names.map(
          (name, index) => [name.toLowerCase(), response.rawHeaders[index * 2 + 1] as string] as const,
        );
        resolve({
          status: response.statusCode ?? 0,
          headers: pairs.filter(([name]) => !own.includes(name)),
          body: Buffer.concat(chunks).toString('base64'),
        });
      });
    }).on('error', reject);
  });
}
