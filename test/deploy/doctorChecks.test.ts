import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type StreamName, streamSubjects } from '../../actors/messages/subjects.ts';
import { natsChecks } from '../../deploy/commands/doctor/checkNats.ts';
import type { CheckedNats } from '../../deploy/commands/doctor/checkStreams.ts';
import { examineDatabase } from '../../deploy/commands/runDoctor.ts';
import { readConfiguration } from '../../deploy/configuration/configuration.ts';
import { type Finding, formatFinding, runChecks } from '../../deploy/diagnosis/finding.ts';
import { judgeRoom, judgeSnapshots } from '../../deploy/diagnosis/inspectDatabase.ts';
import { systemClock } from '../../deploy/process/systemClock.ts';
import type { SnapshotStore } from '../../storage/snapshots/snapshots.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
import { stateDeployment } from '../support/chain/economyState.ts';
import { buildBlockHash } from '../support/chain/hashes.ts';
import { collectFindings } from '../support/collectFindings.ts';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { listenHere } from '../support/processes/listenHere.ts';
import { someSnapshot } from '../support/storage/someLineage.ts';
import { streamInfo } from '../support/streams/streamInfo.ts';

const mib = 2 ** 20;
const { chainId, deploymentBlock } = stateDeployment.chain;

/** A NATS whose streams are as a test says: sound by default, with a single server and nothing stored. */
function createNats(streams: Partial<Record<StreamName, Parameters<typeof streamInfo>[0]>> = {}) {
  const nats = {
    messages: [] as ({ readonly subject: string; readonly body: unknown } | null)[],
    version: '2.10.0',
    account: { storedBytes: 3 * mib, streams: 5, usedBytes: 3 * mib, limitBytes: null as number | null },
    consumers: [] as { name: string; behind: number }[],
    skewMs: 0,
    mayPublishTo: /rejected|chain/,
  };
  const stored = (seq: number) => {
    const message = nats.messages[seq - 1];
    if (message == null) return null;
    const { subject, body } = message;
    return { seq, subject, data: Buffer.from(JSON.stringify(body)), timestampNanos: 0n };
  };
  const jetStream: Partial<StreamPort> = {
    server: () => ({ address: '127.0.0.1:4222', version: nats.version, isClustered: false }),
    mayPublish: async (subject) => nats.mayPublishTo.test(subject),
    account: async () => nats.account,
    info: async (name) => {
      const { config, ...info } = streams[name as StreamName] ?? {};
      const limits = { max_age: 0, max_msgs: -1, max_bytes: -1 };
      const denials = { deny_delete: true, deny_purge: true };
      const subjects = streamSubjects[name as StreamName];
      return streamInfo({
        lastSequence: nats.messages.length,
        ...info,
        config: { subjects, num_replicas: 1, ...limits, ...denials, ...config },
      });
    },
    message: async (_, seq) => stored(seq),
    last: async (_, subject) => stored(nats.messages.findLastIndex((one) => one?.subject === subject) + 1),
    consumers: async () => nats.consumers,
    tryConsumer: async () => new Date(Date.now() + nats.skewMs).toISOString(),
  };
  return Object.assign(nats, { jetStream: jetStream as StreamPort });
}

/** The printed lines of a check, with its remedy. */
const say = (findings: readonly Finding[], check: string) =>
  findings.filter((one) => one.check === check).map((one) => formatFinding(one).trimEnd());

const askNats = ({ jetStream }: ReturnType<typeof createNats>, parts: Partial<CheckedNats> = {}) =>
  collectFindings(
    runChecks(natsChecks, {
      jetStream,
      onChain: stateDeployment,
      rpcUrl: null,
      retentionDays: 0,
      monitoringUrl: null,
      nowMs: Date.now,
      ...parts,
    }),
  );

/** A server that answers as a test says. */
async function serve(answer: (url: string, body: string) => { status?: number; json: unknown }) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { status = 200, json } = answer(request.url ?? '', body);
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(json));
  });
  return `http://127.0.0.1:${await listenHere(server)}`;
}

describe('doctor, of the streams', () => {
  const peer = (name: string, isCurrent = true, isOffline = false) => ({ name, isCurrent, isOffline });
  const away = peer('away', false, true);
  const behind = peer('behind', false);
  it.each([
    ['a single server', 1, undefined, /^ok .*: 1, on one server$/],
    ['a sound cluster', 3, { leader: 'a', peers: [peer('b')] }, /^ok .*: 3 in the cluster c, leader a$/],
    ['no leader', 3, { leader: null, peers: [away] }, /^FAILED .*leader none\n.*a majority/],
    ['a server away', 3, { leader: 'a', peers: [behind, away] }, /^FAILED .*leader a, away: away\n/],
    ['one behind', 3, { leader: 'a', peers: [behind, peer('b')] }, /^warning .*leader a, behind: behind\n/],
    ['one replica', 1, { leader: 'a', peers: [] }, /^warning .*\n.*MINER_STREAM_REPLICAS=3/],
  ])('tells %s from the other states of replicas', async (_what, num_replicas, cluster, expected) => {
    const nats = createNats({
      MINER_COUNTER: { config: { num_replicas }, ...(cluster && { cluster: { name: 'c', ...cluster } }) },
    });
    expect(say(await askNats(nats), 'replicas MINER_COUNTER')).toEqual([expect.stringMatching(expected)]);
  });

  it('names settings that lose messages, each with its remedy', async () => {
    const nats = createNats({
      MINER_COUNTER: { config: { retention: 'interest' } },
      MINER_PIPELINE: { config: { max_msgs: 7 } },
    });
    const findings = await askNats(nats);
    expect(say(findings, 'settings MINER_COUNTER')).toEqual([
      expect.stringMatching(/^FAILED .*retention is interest: .*\n.*--retention=limits$/),
    ]);
    expect(say(findings, 'settings MINER_PIPELINE')).toEqual([
      expect.stringMatching(/^warning .*max_msgs is 7: .*oldest messages leave/),
    ]);
  });

  it('fails if a subject is missing', async () => {
    const nats = createNats({
      MINER_PIPELINE: { config: { subjects: streamSubjects.MINER_PIPELINE.slice(1) } },
    });
    nats.messages[19] = { subject: `miner.chain.${chainId}.reads`, body: {} };
    nats.consumers = [{ name: 'reader', behind: 4 }];
    const findings = await askNats(nats);
    expect(say(findings, 'stream MINER_PIPELINE')[0]).toMatch(
      /^FAILED .*does not hold miner\.module\.\*\.\*\n/,
    );
    expect(say(findings, 'stream MINER_COUNTER')).toEqual([
      'ok       stream MINER_COUNTER: messages 1 to 20, reader 4 behind',
    ]);
    // Clock and permissions need present streams.
    expect([say(findings, 'clock'), say(findings, 'NATS permissions')]).toEqual([[], []]);
  });
});

describe('doctor, of NATS', () => {
  it.each([
    [900, /^ok .*is 900 ms ahead of this machine's, ± 0 ms$/],
    [1_000, /^ok /],
    [-1_001, /^warning .*is 1001 ms behind this machine's/],
    [10_000, /^warning /],
    [10_001, /^FAILED .*10001 ms ahead of/],
  ])('judges a clock that differs by %s ms, and leaves no consumer', async (skewMs, expected) => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 0, 31));
    const nats = createNats();
    nats.skewMs = skewMs;
    const findings = await askNats(nats);
    vi.restoreAllMocks();
    expect(say(findings, 'clock')).toEqual([expect.stringMatching(expected)]);
  });

  it.each([
    [/rejected|chain/, 'this user may serve, ingest, index'],
    [/rejected/, `this user may serve, ingest, and may not index (publish to miner.chain.${chainId}.span)`],
    [
      /nothing/,
      `this user may serve, and may not ingest (publish to miner.rejected.MINER_COUNTER), nor index (publish to miner.chain.${chainId}.span)`,
    ],
  ])('says what a user may do who may publish to %s', async (mayPublishTo, said) => {
    const nats = createNats();
    nats.mayPublishTo = mayPublishTo;
    expect(say(await askNats(nats), 'NATS permissions')).toEqual([`ok       NATS permissions: ${said}`]);
  });

  it('shows room and sync settings of account and server', async () => {
    const nats = createNats();
    nats.account.limitBytes = 2_051 * mib;
    const jetStream = (config: object) => serve(() => ({ json: { storage: 5 * mib, config } }));
    const always = await jetStream({ max_storage: 260 * mib, sync_always: true });
    const findings = await askNats(nats, { monitoringUrl: always });
    expect(
      ['JetStream', 'room of the NATS account', 'NATS sync', 'room of NATS'].map(
        (one) => say(findings, one)[0],
      ),
    ).toEqual([
      'ok       JetStream: 5 streams, 3 MiB stored, counting each copy',
      'ok       room of the NATS account: 2048 MiB of 2051 are free',
      'ok       NATS sync: before each acknowledgement',
      expect.stringMatching(/^FAILED {3}room of NATS: 255 MiB of 260 are free\n/),
    ]);
    for (const [config, every] of [
      [{ sync_interval: 1e9 }, '1 s'],
      [{}, 'two minutes'],
    ] as const) {
      const monitoringUrl = await jetStream({ max_storage: 9_000 * mib, ...config });
      expect(say(await askNats(createNats(), { monitoringUrl }), 'NATS sync')[0]).toMatch(
        new RegExp(`^warning .*every ${every}:`),
      );
    }
  });

  it.each([
    [256 * mib - 1, 'failed'],
    [256 * mib, 'warning'],
    [2_048 * mib - 1, 'warning'],
    [2_048 * mib, 'ok'],
  ])('judges %s free bytes', (freeBytes, outcome) => {
    expect(judgeRoom('disk', freeBytes, 1e12).outcome).toBe(outcome);
  });

  it('warns of the five newest rejections of the last day', async () => {
    const nowMs = Date.UTC(2026, 0, 31, 12);
    const rejection = (sequence: number, ageMs: number) => ({
      subject: 'miner.rejected.MINER_COUNTER',
      body: {
        stream: 'MINER_COUNTER',
        streamCreated: 'then',
        sequence,
        storedAt: new Date(nowMs - ageMs).toISOString(),
        subject: 'miner.counter.one',
        reason: 'malformed',
        detail: '',
        byteLength: 0,
        original: '',
        truncated: false,
      },
    });
    const nats = createNats();
    const check = async () =>
      say(await askNats(nats, { nowMs: () => nowMs }), 'rejections')[0]?.match(/MINER_COUNTER \d/g);
    nats.messages = [rejection(1, 86_400_000)];
    expect(await check()).toBeNull();
    nats.messages = [...nats.messages, rejection(2, 86_399_999)];
    expect(await check()).toEqual(['MINER_COUNTER 2']);
    nats.messages.push(...[3, 4, 5, 6, 7].map((sequence) => rejection(sequence, 1)));
    expect(await check()).toEqual([3, 4, 5, 6, 7].map((sequence) => `MINER_COUNTER ${sequence}`));
  });
});

function span(block: bigint, hash: string = buildBlockHash(1)) {
  return {
    core: stateDeployment.contracts.core,
    fork: 0,
    fromBlock: String(block),
    toBlock: String(block),
    parentHash: buildBlockHash(0),
    hash,
    timestamp: '2026-01-31T12:00:00.000Z',
    blocks: [],
  };
}

describe('doctor, of the node', () => {
  const ofChain = `0x${chainId.toString(16)}`;
  const hash = buildBlockHash(1);
  /** A node at block 12, with other answers to some methods. */
  function serveNode(answers: object): Promise<string> {
    return serve((_, body) => {
      const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: string[] };
      const block = { number: params?.[0], hash, transactions: [] };
      const sound: Record<string, unknown> = {
        eth_chainId: ofChain,
        eth_blockNumber: '0xc',
        eth_getCode: '0x01',
        eth_getBlockByNumber: block,
      };
      return { json: { jsonrpc: '2.0', id, result: Object.assign(sound, answers)[method] } };
    });
  }

  it.each([
    [
      { eth_chainId: '0x1' },
      null,
      /^FAILED .*node: it serves chain 1, but the deployment is on chain 31337\n/,
    ],
    [
      { eth_getCode: '0x' },
      null,
      /^ok .*newest block 12\nFAILED .*no contract at 0x1+\n.*\nskipped .*none is published/,
    ],
    [{}, {}, /\nFAILED .*the newest span is malformed\n/],
    [{}, span(13n), /\nFAILED .*holds block 13, the node is at 12\n/],
    [{}, span(12n), /\nok .*blocks: published through 12, 0 behind/],
    [
      {},
      span(11n, buildBlockHash(2)),
      new RegExp(`\nFAILED .*block 11 is ${buildBlockHash(2)} in the stream and ${hash} on the chain\n`),
    ],
  ])('compares its answers %j with the newest span', async (answers: object, newest, expected) => {
    const url = await serveNode(answers);
    const nats = createNats();
    const bodies = newest === null ? [] : [span(deploymentBlock), newest];
    nats.messages = bodies.map((body) => ({ subject: `miner.chain.${chainId}.span`, body }));
    const findings = await askNats(nats, { rpcUrl: url });
    const said = ['node', 'deployment', 'blocks'].flatMap((check) => say(findings, check));
    expect(said.join('\n')).toMatch(expected);
  });

  it.each([
    [hash, /^ok .*agrees at block 1$/],
    [buildBlockHash(2), /^FAILED .*block 1 is 0x.* at the first node, and 0x.* at the second$/],
  ])('compares a second node with the first', async (second, expected) => {
    const other = { eth_getBlockByNumber: { number: '0x1', hash: second, transactions: [] } };
    const rpcUrl = `${await serveNode({})},${await serveNode(other)}`;
    const findings = await askNats(createNats(), { rpcUrl });
    expect(say(findings, 'second node').join('\n').split('\n')[0]).toMatch(expected);
  });
});

describe('doctor, of snapshots', () => {
  const identity = { foldVersion: 2, configuration: 'ours' };
  const nowMs = 100_000;
  const header = (position: number, change: Partial<StoredSnapshotHeader> = {}) =>
    someSnapshot(position, { ...identity, streamCreated: 'then', takenAtMs: 70_000, ...change });
  it.each([
    ['nothing', [], [0, 0], /^skipped .*there is none$/],
    ['none of a whole stream', [], [1, 9], /^ok .*the next start folds the stream/],
    ['none of a cut stream', [], [2, 9], /^FAILED .*there is none, and the stream begins at 2\n/],
    [
      'one of another version',
      [header(3, { foldVersion: 1 })],
      [2, 9],
      /^FAILED .*1 are of another version or deployment, and/,
    ],
    [
      'one that the stream continues',
      [header(7), header(3), header(8, { configuration: 'others' })],
      [8, 9],
      /^ok .*: 2 can be restored; the newest, at message 7, was taken 30 s ago and holds 2 records$/,
    ],
    ['one before a gap', [header(6)], [8, 9], /^warning .*the stream begins later, at 8\n/],
    ['one after the end', [header(10)], [1, 9], /^FAILED .*it ends at 9, folded through 10\n/],
    ['one of another stream', [header(5, { streamCreated: 'before' })], [1, 9], /^FAILED .*created before\n/],
    [
      'one whose rows count',
      [header(9, { run: 'lost' }), header(7)],
      [1, 8],
      /^ok .*: 1 can be restored; the newest, at message 7, /,
    ],
    [
      'none whose rows count',
      [header(7, { run: 'lost' })],
      [2, 9],
      /^FAILED .*1 have rows that no longer count, and/,
    ],
  ])(
    'says whether a start finds a state: %s',
    async (_what, headers, [firstSequence = 0, lastSequence = 0], expected) => {
      const snapshots = {
        list: async () => headers,
        read: async function* () {
          yield ['one', 'other'].map((key) => ({ kind: 'kind', key, value: '1' }));
        },
      } as unknown as SnapshotStore;
      const { jetStream } = createNats({ MINER_COUNTER: { firstSequence, lastSequence } });
      const sources = { jetStream, snapshots, clock: { ...systemClock, nowMs: () => nowMs } };
      const finding = await judgeSnapshots(sources, ['MINER_COUNTER', identity], ({ run }) => run === '');
      expect(formatFinding(finding).trimEnd()).toMatch(expected);
    },
  );
});

describe('doctor, of a running service', () => {
  const ask = async (answer: () => { status?: number; json: unknown }) => {
    const asked: string[] = [];
    const url = await serve((path) => {
      asked.push(path);
      return answer();
    });
    const examine = async (MINER_DATA_DIR: string) => {
      const configuration = readConfiguration({
        MINER_OPS_HOST: '0.0.0.0',
        MINER_OPS_PORT: new URL(url).port,
        MINER_DATA_DIR,
      });
      return collectFindings(examineDatabase(configuration, { deployment: null, jetStream: null }));
    };
    const dataDir = temporaryDirectory();
    mkdirSync(join(dataDir, 'clickhouse'));
    writeFileSync(join(dataDir, 'clickhouse', 'process.lock'), '1');
    const inUse = await examine(dataDir);
    const free = await examine(temporaryDirectory());
    return { asked, inUse, audit: free.filter(({ check }) => check === 'self-audit of the service'), url };
  };

  it('asks it for its findings, and otherwise for the differences that its self-audit knows', async () => {
    const drift = (detail: string) => ({ check: 'self-audit', outcome: 'failed', detail, remedy: 'index' });
    const disk = { check: 'disk', outcome: 'failed', detail: 'full', remedy: 'make room' };
    const report = { findings: [disk, drift('one'), drift('other')] };
    const { asked, inUse, audit } = await ask(() => ({ json: report }));
    expect(asked).toEqual(['/diagnosis', '/diagnosis']);
    expect(inUse).toEqual(report.findings);
    const check = 'self-audit of the service';
    expect(audit).toEqual([
      { ...drift('one'), check },
      { ...drift('other'), check },
    ]);
    const sound = await ask(() => ({ json: { findings: [disk] } }));
    expect(sound.audit).toEqual([{ check, outcome: 'ok', detail: 'nothing is known to differ' }]);
  });

  it('says why it does not answer', async () => {
    const { inUse, audit, url } = await ask(() => ({ status: 503, json: {} }));
    expect(inUse).toMatchObject([
      {
        check: 'ClickHouse',
        outcome: 'skipped',
        detail: expect.stringMatching(/in use by .* Asking it failed at .*\/diagnosis: status 503; /),
      },
    ]);
    expect(audit).toMatchObject([
      { outcome: 'skipped', detail: expect.stringContaining(`${url}/diagnosis: status 503; `) },
    ]);
    const other = await ask(() => ({ json: { findings: 'none' } }));
    expect(other.audit[0]?.detail).toContain('a body that is no report of this version');
  });
});

it('an error of several lines is one line of the doctor', async () => {
  const fail = () => {
    throw new Error('HTTP request failed.\n\nURL: http://node/\n');
  };
  const { value } = await runChecks([[['node', fail, 'start it']]], null).next();
  expect(formatFinding(value as Finding)).toBe(
    'FAILED   node: HTTP request failed. URL: http://node/\n         -> start it\n',
  );
});
