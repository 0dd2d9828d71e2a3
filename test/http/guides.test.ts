import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { countWholeBlocks } from '../../actors/chain/state/blockUnits.ts';
import { settleBatch } from '../../actors/chain/state/settlementArithmetic.ts';
import guidePages from '../../http/guides/pages.json' with { type: 'json' };
import { errorStatus } from '../../http/routes/errors.ts';
import { rateClasses } from '../../http/routes/rateClasses.ts';
import { routes } from '../../http/routes/routes.ts';
import { createStreamActors } from '../../streams/definitions/streamDefinitions.ts';
import { readNatsAccess } from '../../streams/nats/natsAccess.ts';
import { createEconomyViews, mintMore, stateOwner } from '../support/chain/economyState.ts';
import { settled } from '../support/chain/feedEvents.ts';
import { findOverflows, findViolations, openTab, useBrowser } from '../support/explorer/browser.ts';
import { startLocalService } from '../support/explorer/localService.ts';
import { createGrowingFeed } from '../support/http/growingFeed.ts';
import { listSnippets, prepareSnippet, readGuide, writeTypeCheck } from '../support/http/guideSnippets.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { findFreePort } from '../support/processes/findFreePort.mjs';
import { eventually, shareInFile, temporaryDirectory, whenFinished } from '../support/processes/lifetime.ts';
import { fetchMessages } from '../support/processes/natsServer.ts';

const tsc = resolve(import.meta.dirname, '../../node_modules/.bin/tsc');

/** The expected output of each program. A program that follows something is ended once it has printed it. */
const printed: Record<string, RegExp> = {
  'start sh status': /"schemaVersion":1,.*"settlementQueue":/,
  'start ts follow': /settled through round \d+: \d+ work blocks\n/,
  'start py follow': /settled through round \d+: \d+ work blocks\n/,
  'find py yesterday': /^\d{4}-\d\d-\d\d: (?:\d+ m|not known)\n$/,
  'find sh tables': /^universal_day,.*,coverage\r\n(?:\d{4}-\d\d-\d\d,.*\r\n){30}$/,
  'freshness sh unknown': /^"status":"available"\n$/,
  'freshness ts unknown': /^[1-9]\d* settlements in seven days\n$/,
  'freshness py unknown': /^[1-9]\d* settlements in seven days\n$/,
  'polling sh poll': /^304\n$/,
  'polling ts poll': /^\d+ work units\n/,
  'polling py poll': /^\d+ work units\n/,
  'paging sh pages': /^"nextCursor":"[\w-]+"}\n$/,
  'paging py pages': /^(?:token \d+ level \d+\n){3,}$/,
  'events sh stream': /^retry: \d+\n(?::\n)*id: \S+\nevent: position\ndata: {}\n\n/,
  'numbers sh numbers': /^"\w+BaseUnits":"\d+"\n/,
  'numbers ts numbers': /^\d+ work units\n$/,
  'numbers py amounts': /^[\d.]+ SQK minted\n/,
  'limits sh limits':
    /^RateLimit-Policy: "publicHeavy";q=20;w=4\r\nRateLimit: "publicHeavy";r=\d+;t=[1-4]\r\n$/,
  'limits py limits': /^25 requests, available\n$/,
  'errors sh errors':
    /^HTTP\/1.1 400 Bad Request\r\nLink: <\/docs\/errors#invalid_query>; rel="help"\r\n{"error":"invalid_query"}\n$/,
};

const snippets = listSnippets();
const { openWindow, openPage } = useBrowser();

function findSnippet(id: string) {
  const snippet = snippets.find((one) => one.id === id);
  if (snippet === undefined) throw new Error(`no ${id}`);
  return snippet;
}

async function runSnippet(id: string, folder: string, base: string, ...given: string[]) {
  const { command, args } = await prepareSnippet(findSnippet(id), folder, base);
  return startProcess(command, [...args, ...given], { cwd: folder, env: { ...process.env, NATS_URL: base } });
}

/** One service for all programs that need no owner. */
const service = shareInFile(() => startLocalService({}, 0.5));

/** A server over a chain that stands still, whose owner has several pages: in the running service a miner may change hands between two requests. */
async function startPaging(port?: number) {
  return startPublicServer({ chain: createEconomyViews({}, ...mintMore(2n, 3n)).views }, port);
}

/** A chain with settlements, to which a test adds more. */
function createSettlements(first = 5) {
  const feed = createGrowingFeed();
  let count = 0n;
  const settle = (more: number) => {
    for (let index = 0; index < more; index++) {
      const settledThroughRound = ++count * 2n;
      const previousSettledThroughRound = settledThroughRound - 2n;
      feed.add(settled({ previousSettledThroughRound, settledThroughRound, completedBlockCount: 1n }));
    }
  };
  settle(first);
  return { views: feed.views, settle };
}

describe('the programs of the guides', () => {
  it('are all run, but for those of browsers, and generated clients, which `npm run interop` runs', () => {
    const runnable = snippets.filter(
      ({ id, language }) => language !== 'js' && !/^(?:publishing|generate) /.test(id),
    );
    expect(runnable.map(({ id }) => id)).toEqual(Object.keys(printed));
  });

  it.each(Object.entries(printed))('%s prints what it should', async (id, pattern) => {
    // The programs before the one about errors have used up what the service allows.
    const { base } = /^(?:paging|errors) /.test(id) ? await startPaging() : { base: (await service()).url };
    const run = await runSnippet(id, temporaryDirectory(), base, stateOwner);
    const hasEnded = () => run.child.stdout?.readableEnded === true;
    await eventually(() => pattern.test(run.output()) || hasEnded(), 'its output');
    expect(run.output()).toMatch(pattern);
  });

  it('open the stream again in browsers, behind the last message', () => {
    const snippet = snippets.find(({ language }) => language === 'js');
    const sources: FakeEventSource[] = [];
    type Listener = (message: { readonly data: string; readonly lastEventId: string }) => void;
    class FakeEventSource {
      static readonly CLOSED = 2;
      readyState = 0;
      onerror = () => undefined;
      onmessage: Listener = () => undefined;
      readonly listeners = new Map<string, Listener>();
      readonly url: string;
      constructor(url: string) {
        this.url = url;
        sources.push(this);
      }
      addEventListener(type: string, listener: Listener) {
        this.listeners.set(type, listener);
      }
    }
    const shown: string[] = [];
    const waits: (() => void)[] = [];
    const world = {
      EventSource: FakeEventSource,
      setTimeout: (work: () => void) => waits.push(work),
      console: { log: (type: string) => shown.push(type) },
    };
    new Function(...Object.keys(world), snippet?.source ?? '')(...Object.values(world));
    const newest = () => sources.at(-1) as FakeEventSource;
    // The connection broke: the browser connects again by itself.
    newest().onerror();
    expect(waits).toHaveLength(0);
    const refuse = () => {
      newest().readyState = FakeEventSource.CLOSED;
      newest().onerror();
      waits.pop()?.();
    };
    refuse();
    newest().listeners.get('position')?.({ data: '{}', lastEventId: 'p1' });
    refuse();
    newest().onmessage({ data: '{"type":"a"}', lastEventId: 'p2' });
    refuse();
    const stream = '/v1/events/stream?category=measurement&unnamed=1';
    expect(sources.map(({ url }) => url.replace(stream, ''))).toEqual([
      '',
      '',
      '&lastEventId=p1',
      '&lastEventId=p2',
    ]);
    expect(shown).toEqual(['a']);
  });

  it('compile', async () => {
    const project = writeTypeCheck(snippets, temporaryDirectory());
    const check = startProcess(tsc, ['-p', project]);
    expect([await check.exited, check.output()]).toEqual([0, '']);
  });

  it.each(['start ts follow', 'start py follow'])(
    '%s prints each settlement once, even across its own end',
    async (id) => {
      const { views, settle } = createSettlements();
      const port = await findFreePort();
      const first = await startPublicServer({ chain: views }, port);
      const folder = temporaryDirectory();
      writeFileSync(join(folder, 'position.txt'), 'no position of this service');
      const run = await runSnippet(id, folder, first.base);
      await eventually(() => findRounds(run.output()).length === 5, 'the settlements of the feed');
      first.close();
      settle(3);
      const second = await startPublicServer({ chain: views }, port);
      await eventually(() => findRounds(run.output()).length === 8, 'those since then');
      await run.end('SIGKILL');
      expect(findRounds(run.output())).toEqual([2, 4, 6, 8, 10, 12, 14, 16]);
      settle(2);
      const again = await runSnippet(id, folder, second.base);
      await eventually(() => findRounds(again.output()).at(-1) === 20, 'those behind its position');
      // A program that is killed between a settlement and its position prints that one again, as the guide says.
      expect(findRounds(again.output()).slice(-2)).toEqual([18, 20]);
    },
  );

  it('start py follow keeps the position of a stream that had no event yet', async () => {
    const { views, settle } = createSettlements(0);
    const port = await findFreePort();
    const first = await startPublicServer({ chain: views }, port);
    const folder = temporaryDirectory();
    const run = await runSnippet('start py follow', folder, first.base);
    await eventually(() => existsSync(join(folder, 'position.txt')), `a position: ${run.output()}`);
    first.close();
    settle(30);
    await startPublicServer({ chain: views }, port);
    await eventually(() => findRounds(run.output()).length === 30, `30 settlements: ${run.output()}`);
  });
});

it.each(['start py follow', 'polling py poll', 'paging py pages', 'limits py limits'])(
  'the program %s survives a service that is killed in the middle of a chunk',
  async (id) => {
    const port = await findFreePort();
    const halfAnswer = `require('node:http').createServer((_, response) => response.write('{"half', () =>
      console.log('answered'))).listen(${port}, '127.0.0.1', () => console.log('listening'))`;
    const killed = startProcess(process.execPath, ['-e', halfAnswer]);
    await killed.written('listening');
    const run = await runSnippet(id, temporaryDirectory(), `http://127.0.0.1:${port}`, stateOwner);
    await killed.written('answered');
    await killed.end('SIGKILL');
    if (id.startsWith('paging')) await startPaging(port);
    else await startPublicServer({ chain: createSettlements().views }, port);
    const pattern = new RegExp(printed[id]?.source.replace(/^\^|\$$/g, '') ?? '');
    await eventually(() => pattern.test(run.output()), 'its output');
  },
);

const findRounds = (output: string) =>
  [...output.matchAll(/through round (\d+)/g)].map(([, round]) => Number(round));

describe('the programs that publish', () => {
  const programs = snippets.filter(({ id }) => id.startsWith('publishing'));
  /** The only batch of the guide. */
  const batch = /^{ "previousSettledThroughRound".*$/m.exec(readGuide('publishing'))?.[0] ?? '';
  const files = { 'counter.txt': '100\n', 'rounds.txt': '1 240\n2 100\n4 7\n', 'batch.json': batch };

  /** A folder with all programs, as a reader of the guide has it, and what runs one of them in it. */
  async function prepareFolder(natsUrl: string) {
    const folder = temporaryDirectory();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    for (const program of programs) await prepareSnippet(program, folder, natsUrl);
    const run = (id: string, url = natsUrl) => runSnippet(id, folder, url);
    const listOutbox = (name: string) => {
      const file = join(folder, `${name}.outbox`);
      return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    };
    return { folder, run, listOutbox };
  }

  it('are three, each short enough to be read', () => {
    const lengths = programs.map(({ id, source }) => [id.split(' ')[2], source.trimEnd().split('\n').length]);
    expect(lengths.map(([name]) => name)).toEqual(['gateway', 'oracle', 'reporter']);
    for (const [name, length] of lengths) expect(length).toBeLessThanOrEqual(name === 'gateway' ? 305 : 55);
  });

  it('settle the sums that the arithmetic of the core gives for the rounds', () => {
    const { expected } = JSON.parse(batch) as { expected: Readonly<Record<string, string>> };
    const zero = { settledThroughRound: 0n, cumulativeWork: 0n, cumulativeBlockUnits: 0n };
    const workPerThousandBlocks = BigInt(expected.workPerThousandBlocks ?? '');
    const active = ['240', '100'].map((work, index) => ({
      roundId: BigInt(index + 1),
      workUnits: BigInt(work),
    }));
    const configuration = {
      maxRoundsPerBatch: 16n,
      targetBlocksPerActiveRound: 1n,
      difficultySmoothingRounds: 144n,
    };
    const settled = settleBatch(
      { ...zero, workPerThousandBlocks },
      { throughRound: 2n, active },
      configuration,
    );
    expect(expected).toMatchObject({
      cumulativeWork: String(settled.cumulativeWork),
      cumulativeBlockUnits: String(settled.cumulativeBlockUnits),
      completedBlockCount: String(countWholeBlocks(settled.cumulativeBlockUnits)),
    });
  });

  it('survive power cuts, full disks, wrong clocks, counters that begin again, and any trouble with NATS', async () => {
    const { folder } = await prepareFolder('');
    const faults = resolve(import.meta.dirname, 'gatewayFaults.py');
    const run = startProcess('python3', ['-W', 'ignore', faults], { cwd: folder });
    expect([await run.exited, run.output()]).toEqual([
      0,
      expect.stringMatching(/^Ran \d+ tests in .*\n\nOK\n$/m),
    ]);
  });

  it('leave the pin of the sensor to the gateway, which the others import', async () => {
    const { folder } = await prepareFolder('');
    const [, sensor = ''] = /```txt\n(pulses = .*?)```/s.exec(readGuide('publishing')) ?? [];
    const file = join(folder, 'gateway.py');
    const withSensor = readFileSync(file, 'utf8').replace(/def read_counter.*?\n\n/s, () => `${sensor}\n`);
    writeFileSync(file, withSensor);
    const claim = "class Button:\n    def __init__(self, pin):\n        print('claims', pin, flush=True)\n";
    writeFileSync(join(folder, 'gpiozero.py'), claim);
    const start = (...args: string[]) =>
      startProcess('python3', args, {
        cwd: folder,
        env: { PATH: process.env.PATH, NATS_URL: 'nats://127.0.0.1:1' },
      });
    const imported = start('-c', 'import oracle');
    expect([await imported.exited, imported.output()]).toEqual([0, '']);
    const gateway = start('gateway.py');
    await gateway.written('claims 17');
    await gateway.end('SIGKILL');
  });

  it('publish each message once, across outages and kills', async () => {
    const { natsUrl, json } = await service();
    const telemetry = () =>
      json<{ measurement: { cumulativeWorkUnits: string } | null }>(
        '/v1/public/installations/my.wheel/telemetry',
      );
    const nowhere = `nats://127.0.0.1:${await findFreePort()}`;
    const { folder, run, listOutbox } = await prepareFolder(natsUrl);
    const without = await run('publishing py gateway', nowhere);
    await eventually(() => listOutbox('gateway').length >= 2, 'two readings in the outbox');
    await without.end('SIGKILL');
    expect(without.output()).toBe('NATS: [Errno 111] Connection refused: messages wait in gateway.outbox\n');
    writeFileSync(join(folder, 'counter.txt'), '200');
    const again = await run('publishing py gateway');
    await eventually(
      async () => (await telemetry()).measurement?.cumulativeWorkUnits === '200',
      `the reading of the gateway: ${again.output()}`,
    );
    await again.end('SIGKILL');
    const oracle = await run('publishing py oracle');
    await oracle.written('rounds: round 3 is missing: the later ones wait for it');
    await oracle.end('SIGKILL');
    const reporter = await run('publishing py reporter');
    expect([await reporter.exited, reporter.output()]).toEqual([0, '']);
    expect(['oracle', 'reporter'].flatMap(listOutbox)).toEqual([]);

    const connection = await connect(readNatsAccess({ url: natsUrl }));
    whenFinished(() => connection.close());
    const nats = { js: jetstream(connection), jsm: await jetstreamManager(connection) };
    const actors = createStreamActors({ installationId: '', genesisTimestamp: 0, onChain: null });
    for (const stream of ['MINER_COUNTER', 'MINER_PIPELINE'] as const) {
      const stored = (await fetchMessages(nats, stream)).filter(({ subject }) =>
        subject.endsWith('.my~wheel'),
      );
      for (const message of stored) expect(actors[stream].receive(message)).not.toHaveProperty('rejection');
      const ids = stored.map(({ headers }) => headers?.get('Nats-Msg-Id'));
      expect(new Set(ids).size).toBe(stored.length);
      expect(stored.length).toBeGreaterThanOrEqual(3);
    }
  });
});

describe('the pages of the guides', () => {
  const paths = ['/docs', ...guidePages.map(({ name }) => `/docs/${name}`)];

  it('are prepared, run no script, and link only to what exists', async () => {
    const server = await startPublicServer();
    const broken: string[] = [];
    for (const path of paths) {
      const response = await server.get(path, { 'Accept-Encoding': 'br' });
      const { status, headers } = response;
      expect([path, status, headers.get('content-encoding')]).toEqual([path, 200, 'br']);
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self';/);
      const kept = { 'Accept-Encoding': 'br', 'If-None-Match': headers.get('etag') ?? '' };
      expect((await server.get(path, kept)).status).toBe(304);
      const html = await response.text();
      expect(html).not.toContain('<script');
      for (const [, target = ''] of html.matchAll(/href="(\/[^"]*)"/g)) {
        const [page = '', section] = target.split('#');
        const linked = await server.get(page);
        const isThere = section === undefined || (await linked.text()).includes(` id="${section}"`);
        if (linked.status !== 200 || !isThere) broken.push(`${path}: ${target}`);
      }
    }
    expect(broken).toEqual([]);
    const errors = await (await server.get('/docs/errors')).text();
    for (const code of Object.keys(errorStatus)) expect(errors).toContain(`<h3 id="${code}">`);
  });

  it('have the frame of the pages, like the reference', async () => {
    const server = await startPublicServer();
    const readFrame = async (path: string) => {
      const html = await (await server.get(path)).text();
      return [/<nav class="places".*?<\/nav>/s, /<search .*?<\/form>/s, /\/explorer\/style\.[^"]*css/].map(
        (part) => part.exec(html)?.[0].replace(/ aria-current="page"| value="[^"]*"/g, '') ?? path,
      );
    };
    const frame = await readFrame('/');
    for (const path of ['/docs', '/docs/errors', '/docs/reference'])
      expect([path, await readFrame(path)]).toEqual([path, frame]);
  });

  it('list all routes without script, with links to their schemas', async () => {
    const server = await startPublicServer();
    const reference = `${server.base}/docs/reference`;
    const { page } = await openPage(reference, { width: 360, isScriptAllowed: false });
    const text = await page.locator('#documentation').textContent();
    for (const { path, summary } of routes) expect(text).toContain(`GET ${path}\n${summary}.`);
    const schemas = await page.locator('#documentation a[href^="/schemas/"]').all();
    expect(schemas.length).toBe(routes.length);
    const address = (await schemas[0]?.getAttribute('href')) ?? '';
    expect((await server.get(address)).status).toBe(200);
    expect(await findOverflows(page, [360, 768, 1280])).toEqual([]);
    // The examination needs scripts, so only the one that replaces the list is missing.
    const context = await openWindow({ width: 360 });
    await context.route('**/start.js', (route) => route.abort());
    const examined = await openTab(context, reference);
    expect(await findViolations(examined.page)).toEqual([]);
  });

  it('are readable on a phone and in the dark', async () => {
    const server = await startPublicServer();
    // All pages have one style sheet, so each is examined in one theme.
    const looks = [
      { width: 360, scheme: 'dark' },
      { width: 1440, scheme: 'light' },
    ] as const;
    const windows = await Promise.all(looks.map((look) => openWindow(look)));
    for (const [index, path] of paths.slice(1).entries()) {
      const window = windows[index % windows.length] as (typeof windows)[number];
      const { page, conduct } = await openTab(window, server.base + path);
      expect([path, await findViolations(page), conduct.errors]).toEqual([path, [], []]);
      expect([path, await findOverflows(page, [360, 1440])]).toEqual([path, []]);
      await page.close();
    }
  });

  it('state the limits that there are', () => {
    for (const [name, { perSecond, burst }] of Object.entries(rateClasses))
      expect(readGuide('limits')).toContain(`| \`${name}\` | ${perSecond} | ${burst} |`);
  });
});
