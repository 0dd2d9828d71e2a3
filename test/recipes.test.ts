import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { comparedPaths } from './simulation/checks/comparedPaths.ts';
import { copyProgram, type Edit, type LoadModule, loadModule } from './support/editedProgram.ts';
import { genesisMs } from './support/genesis.ts';
import { readFeed } from './support/http/readFeed.ts';
import { jsonMessage } from './support/jsonMessage.ts';
import { messageExamples } from './support/messageExamples.ts';
import { shareInFile } from './support/processes/lifetime.ts';
import { readingMessage } from './support/readings/readingMessages.ts';

const addedMember = ' addedLater: z.string().max(64).nullable().default(null),';

/** The first steps of the recipes in CONTRIBUTING.md, How to add: a measured value, a member of each message, and two types of event. */
const firstSteps: readonly Edit[] = [
  {
    file: 'actors/wheel/counterReading.ts',
    after: "distanceMm: safeCount.describe('Distance of the rim in millimetres'),",
    insert: " axleMilliKelvin: safeCount.nullable().default(null).describe('Temperature of the axle'),",
  },
  ...[
    ['actors/device/moduleSnapshot.ts', 'moduleSnapshotMessage = z.object({'],
    ['actors/device/moduleSnapshot.ts', 'health = z.object({'],
    ['actors/device/signerIdentity.ts', 'signerMessage = z.object({'],
    ['actors/settlement/oracleMessage.ts', ' at,'],
    ['actors/settlement/oracleMessage.ts', 'closedRound = z.object({'],
    ['actors/settlement/reporterMessage.ts', ' at,'],
    ['actors/settlement/reporterMessage.ts', 'expected = z.object({'],
    ['actors/chain/spans/chainSpan.ts', 'chainSpanMessage = z.object({'],
    ['actors/chain/spans/chainReads.ts', 'chainReadsMessage = z.object({'],
  ].map(([file = '', after = '']) => ({ file, after, insert: addedMember })),
  {
    file: 'actors/events/eventSchemas.ts',
    after: "achievement = z.discriminatedUnion('type', [",
    insert: " z.strictObject({ type: z.literal('measurement.hot_axle'), observed: count }),",
  },
  {
    file: 'actors/events/eventSchemas.ts',
    after: "chainDetails = z.discriminatedUnion('type', [",
    insert: " z.strictObject({ type: z.literal('system.round_settled'), roundId: amount, work: amount }),",
  },
  {
    file: 'http/responses/feed/feedEvent.ts',
    after: ".discriminatedUnion('type', [",
    insert: `
      chainEvent('system.round_settled', { roundId: decimal, work: decimal }),
      measurementEvent('measurement.hot_axle', { observed: decimal }),`,
  },
];

/** What the compiler then asks for, and where the events are made. */
const laterSteps: readonly Edit[] = [
  {
    file: 'actors/wheel/measurementEvents.ts',
    after: 'const rules: readonly Rule[] = [',
    insert: `
      {
        isReached: () => true,
        reach: (_progress, { speedMmPerSecond: observed }) => ({
          achievements: [{ type: 'measurement.hot_axle', observed }],
          change: {},
        }),
      },`,
  },
  {
    file: 'actors/wheel/measurementEvents.ts',
    after: 'formatDiscriminator(achievement: Achievement): string {\n  switch (achievement.type) {',
    insert: " case 'measurement.hot_axle': return String(achievement.observed);",
  },
  {
    file: 'actors/chain/handlers/chainFeed.ts',
    after: 'event: ChainEvent): ChainFeedDetails | null {',
    insert: `
      if (event.contract === 'core' && event.name === 'RoundSettled')
        return { type: 'system.round_settled', roundId: event.args.roundId, work: event.args.work };`,
  },
  {
    file: 'actors/feed/eventKeys.ts',
    after: 'EventNoun[] {\n  switch (details.type) {',
    insert: " case 'system.round_settled': return [];",
  },
  {
    file: 'http/responses/feed/feedEvent.ts',
    after: 'switch (details.type) {',
    insert: " case 'system.round_settled': return splitDetails(details);",
  },
  {
    file: 'http/responses/feed/feedEvent.ts',
    after: 'switch (achievement.type) {',
    insert: `
      case 'measurement.hot_axle':
        return { type: achievement.type, payload: { observed: String(achievement.observed) } };`,
  },
  {
    file: 'http/explorer/format/events.ts',
    after: 'payload: Payload<Of>) => EventWords } = {',
    insert: `
      'system.round_settled': ({ roundId }) => ({ title: 'Round', sentence: \`\${roundId} is settled.\`, owner: null }),
      'measurement.hot_axle': () => fromWheel('Hot', 'The axle is hot.'),`,
  },
];

/** The program after all recipes. */
const useEdited = shareInFile(async () => {
  const program = copyProgram();
  program.edit([...firstSteps, ...laterSteps]);
  return program;
});

const pipelineExamples = messageExamples.filter(({ subject }) => !/^miner\.(?:chain|counter)/.test(subject));

/** The messages that this version knows, from the streams to the bytes of every route. */
async function playWorld(load: LoadModule) {
  type Program = typeof import('./support/reference/comparedProgram.ts');
  type World = typeof import('./support/reference/comparedWorld.ts');
  const { startComparedProgram } = await load<Program>('test/support/reference/comparedProgram.ts');
  // The publishers are those of this version.
  const world = await loadModule<World>('test/support/reference/comparedWorld.ts');
  const program = await startComparedProgram(world.worldDeployment(), genesisMs);
  const { apply, settle } = await world.createComparedWorld(program, 4);
  for (const { subject, text } of pipelineExamples.filter(({ subject }) => /module|signer/.test(subject)))
    program.store('MINER_PIPELINE', subject.replace('my~wheel', 'wheel~one'), text);
  const live = { do: 'live', minutes: 30, actions: 3, isClosing: true, isCaughtUp: true } as const;
  await apply({ ...live, work: 900, coreStatus: 'ACTIVE', epoch: 'first' });
  settle();
  const read = async (path: string) => (await program.fetchBody(path)).body;
  // Some forms show or name events, which the recipes add, and one a record that is missing.
  const paths = comparedPaths.filter((path) => !/\/events|\/days|\{|9999/.test(path));
  const bodies = await Promise.all(
    paths.map(async (path) => [path, await read(path).catch(String)] as const),
  );
  return { bodies: Object.fromEntries(bodies), events: await readFeed(read), program, read };
}

it('recipes leave the meaning of stored messages on every route', async () => {
  const edited = await useEdited();
  const [before, after] = [await playWorld(loadModule), await playWorld(edited.load)];
  const added = { axleMilliKelvin: null };
  const withAdded = (body: unknown) =>
    JSON.parse(JSON.stringify(body), (key, member) =>
      key === 'measurement' && member !== null && 'rpmMilli' in member ? { ...member, ...added } : member,
    );
  for (const [path, body] of Object.entries(before.bodies))
    expect([path, after.bodies[path]]).toEqual([path, withAdded(body)]);
  expect(Object.values(before.bodies).filter((body) => typeof body === 'string')).toEqual([]);
  expect(JSON.stringify(after.bodies)).toContain('"axleMilliKelvin":null');

  const isAdded = ({ id }: { readonly id: string }) => /hot_axle|round_settled/.test(id);
  expect(after.events.filter((event) => !isAdded(event))).toEqual(before.events);
  expect(JSON.stringify(after.events)).toMatch(/"measurement.hot_axle".*"system.round_settled"/);
  const { activeEventTypes } = (await after.read('/v1/events?limit=1')) as { activeEventTypes: string[] };
  expect(activeEventTypes).toHaveLength(12);
  const now = new Date(after.program.clock.nowMs()).toISOString();
  const reading = readingMessage('wheel.one', 900, { observedAt: now, receivedAt: now });
  after.program.store('MINER_COUNTER', 'miner.counter.wheel~one', { ...reading, axleMilliKelvin: 300_000 });
  expect(await after.read('/v1/status')).toMatchObject({ measurement: { axleMilliKelvin: 300_000 } });
});

it('recipes leave repeated messages of oracle, reporter and signer without effect', async () => {
  type Settlement = typeof import('../actors/settlement/settlementActors.ts');
  type SettlementActors = ReturnType<Settlement['createSettlementActors']>;
  const createActors = async (load: LoadModule) =>
    (await load<Settlement>('actors/settlement/settlementActors.ts')).createSettlementActors({ genesisMs });
  const receiveAll = (actors: SettlementActors, seq: number) =>
    pipelineExamples.map(({ subject, text }, index) =>
      actors.receive(jsonMessage(subject, JSON.parse(text), { seq: seq + index })),
    );
  const original = await createActors(loadModule);
  receiveAll(original, 1);
  const edited = await createActors((await useEdited()).load);
  const restoration = edited.beginRestore();
  // The state of modules and signers has the member, so the recipe asks for a later version of the fold.
  for (const record of original.capture())
    if (!/^(?:module|signer)$/.test(record.kind)) restoration.add(record);
  restoration.complete()();
  expect(receiveAll(edited, 100)).toEqual(receiveAll(original, 100));
});

it('recipes keep missing values unknown in snapshots and rows', async () => {
  const { load } = await useEdited();
  type Counters = typeof import('../actors/wheel/counterActors.ts');
  type OpenTables = typeof import('./support/storage/openTables.ts');
  type Readings = typeof import('../storage/tables/readings.ts');
  const { createCounterActors } = await load<Counters>('actors/wheel/counterActors.ts');
  const { openTables, storeRows } = await load<OpenTables>('test/support/storage/openTables.ts');
  const { readings } = await load<Readings>('storage/tables/readings.ts');
  const createActors = () => createCounterActors({ genesisMs, publicInstallationId: 'wheel.one' });
  const actors = createActors();
  const values = [{}, { axleMilliKelvin: null }, { axleMilliKelvin: 0 }, { axleMilliKelvin: 7 }];
  const accepted = values.map((value, index) => {
    const body = { ...readingMessage('wheel.one', index), ...value };
    const outcome = actors.receive(jsonMessage('miner.counter.wheel~one', body, { seq: index + 1 }));
    if ('rejection' in outcome) throw new Error(outcome.rejection.detail);
    const restored = createActors();
    const restoration = restored.beginRestore();
    for (const record of actors.capture()) restoration.add(record);
    restoration.complete()();
    restored.reveal();
    expect(restored.installation('wheel.one')?.acceptance.latest).toEqual(outcome.output.reading);
    return outcome.output.reading;
  });

  const { database } = await openTables();
  await storeRows(database, { readings: accepted });
  const rows = await database.select(`SELECT ${readings.list} FROM ${readings.name} ORDER BY position`);
  expect(rows.map(readings.read)).toEqual(accepted);
  const stored = await database.select(`SELECT axle_milli_kelvin FROM ${readings.name} ORDER BY position`);
  expect(stored.flat().map((value) => value && Number(value))).toEqual([null, null, 0, 7]);
});

it('the compiler names files of the recipes after their first steps', () => {
  const { directory, edit } = copyProgram();
  edit(firstSteps);
  const configuration = {
    extends: './http/explorer/tsconfig.json',
    include: ['actors', 'http', 'machines', 'storage', 'streams'],
  };
  writeFileSync(join(directory, 'tsconfig.recipes.json'), JSON.stringify(configuration));
  const { stdout } = spawnSync(
    join(directory, 'node_modules/.bin/tsc'),
    ['--noEmit', '--pretty', 'false', '--checkers', '1', '-p', 'tsconfig.recipes.json'],
    { cwd: directory, encoding: 'utf8' },
  );
  const named = new Set([...stdout.matchAll(/^(\S+)\(\d+,\d+\): error/gm)].map(([, file]) => file));
  expect([...named].sort()).toEqual([
    'actors/feed/eventKeys.ts',
    'actors/wheel/measurementEvents.ts',
    'http/explorer/format/events.ts',
    'http/responses/feed/feedEvent.ts',
    'streams/indexer/buildSpans.ts',
    'streams/indexer/indexerWork.ts',
  ]);
  const page = readFileSync(resolve(import.meta.dirname, '../CONTRIBUTING.md'), 'utf8');
  const recipes = page.slice(page.indexOf('## How to add'));
  const missing = [...named, ...laterSteps.map(({ file }) => file)].filter(
    (file) => !recipes.includes(`\`${file}\``),
  );
  expect(missing).toEqual([]);
});
