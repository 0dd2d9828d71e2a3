import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import { capAnswer } from '../../http/mcp/capAnswer.ts';
import { createTools } from '../../http/mcp/tools.ts';
import { examples } from '../../http/routes/documentation/examples.ts';
import { nameBody } from '../../http/routes/route.ts';
import { routes } from '../../http/routes/routes.ts';

it('an answer has a bounded length, stays JSON, and says what was cut', () => {
  const { answer } = examples.bodies.Statistics ?? {};
  const { length } = JSON.stringify(answer);
  expect(capAnswer(answer, length)).toEqual({ text: JSON.stringify(answer), cuts: [] });
  const { text, cuts } = capAnswer(answer, 20_000);
  expect(text.length).toBeLessThanOrEqual(20_000);
  expect(cuts).toContain('activity.typicalDay: 20 of 48');
  expect(JSON.parse(text).activity.days).toHaveLength(7);
  const token = { name: 'a token', imageDataUri: 'x'.repeat(240_000), rest: ['y'.repeat(3_000), null] };
  expect(capAnswer(token)).toEqual({
    text: JSON.stringify({ ...token, imageDataUri: 'x'.repeat(3_000) }),
    cuts: ['imageDataUri: 3000 of 240000 characters'],
  });
  expect(capAnswer({ rows: [{ text: 'z'.repeat(3_001) }, null] }, 3_027)).toEqual({
    text: JSON.stringify({ rows: [{ text: 'z'.repeat(3_000) }, null] }),
    cuts: ['rows.0.text: 3000 of 3001 characters'],
  });
  expect(JSON.parse(capAnswer({ text: `x${'😀'.repeat(20_000)}` }).text).text).toBe(
    `x${'😀'.repeat(1_499)}\ufffd`,
  );
  const numbers = Array.from({ length: 3 }, () => 1);
  expect(capAnswer({ numbers: [1, 1], others: { numbers } }, 45)).toEqual({
    text: JSON.stringify({ numbers: [1, 1], others: { numbers: [1, 1] } }),
    cuts: ['others.numbers: 2 of 3'],
  });
  expect(() => capAnswer({ name: 'x'.repeat(100) }, 50)).toThrow(
    new RangeError('the answer is longer than 50 characters without any list'),
  );
});

const tools = createTools();

it('a tool asks a route, with its parameters', () => {
  const findTool = (sought: string) => tools.find(({ name }) => name === sought);
  const ask = (name: string, input: Record<string, unknown> = {}) => findTool(name)?.path(input);
  expect(ask('getStatus')).toBe('/v1/status');
  expect(ask('getInstallationTelemetry', { installationId: 'a/b' })).toContain('a%2Fb');
  expect(ask('getEvents', { category: 'players', cursor: undefined, limit: 5 })).toMatchInlineSnapshot(
    `"/v1/events?category=players&limit=5"`,
  );
  expect(
    tools.map(({ name, inputSchema: { properties, required } }) => {
      const isRequired = (member: string) => (required as string[]).includes(member);
      const members = Object.keys(properties as object);
      return [name, ...members.map((member) => (isRequired(member) ? member : `${member}?`))].join(' ');
    }),
  ).toMatchInlineSnapshot(`
    [
      "getTelemetry",
      "getInstallationTelemetry installationId",
      "getModules",
      "getObservations installationId cursor? limit?",
      "getStatus",
      "getStatistics range",
      "getYear",
      "getDay date",
      "getCore",
      "getSettlements range?",
      "getMiningState",
      "getPortfolio address limit? cursor?",
      "getOwnerActivity address limit? cursor?",
      "getTokenMetadata tokenId",
      "getEvents category? limit? cursor? type? owner? tokenId? transaction? ethereumBlock? from? to?",
      "getDifficulty limit? cursor? from? to?",
      "getEvent eventId",
      "getTransaction transactionHash",
      "getEthereumBlock ethereumBlockNumber",
      "getWorkBlock blockNumber",
      "getSettledBatch transactionHash",
      "getBatches limit? cursor? from? to?",
      "getCheckpoints limit? cursor? from? to?",
      "getRound round",
      "getRounds limit? cursor? from? to?",
      "getMiner tokenId",
      "getMiners limit? cursor?",
      "getOwners limit? cursor?",
      "search q",
    ]
  `);
  expect(findTool('getTokenMetadata')?.description).toBe(
    'Metadata of a position. Issued rewards, and the positions, earnings and activity of owners.',
  );
  const isRefused = (installationId?: string) => {
    try {
      ask('getInstallationTelemetry', { installationId });
      return false;
    } catch {
      return true;
    }
  };
  expect(['.', '..', '...', '.a', 'a.', undefined].filter(isRefused)).toEqual(['.', '..', undefined]);
});

it('arguments of a tool have type, description and pattern', () => {
  const text = JSON.stringify(tools.map(({ inputSchema }) => inputSchema));
  expect(text).not.toMatch(/"(?:\$ref|allOf|anyOf|oneOf)"/);
  const described = tools.flatMap(({ inputSchema: { properties } }) =>
    Object.entries(
      properties as Readonly<Record<string, { type?: string; description?: string; pattern?: string }>>,
    ),
  );
  expect(described.length).toBeGreaterThan(12);
  for (const [name, { type, description, pattern }] of described) {
    expect([name, type, Boolean(description)]).toEqual([
      name,
      expect.stringMatching(/^(?:string|integer)$/),
      true,
    ]);
    if (['cursor', 'address', 'tokenId', 'installationId'].includes(name)) expect(pattern).toMatch(/^\^/);
  }
});

it('an answer fits the output schema of its tool, whole and cut', () => {
  for (const route of routes) {
    const tool = tools.find(({ name }) => name === route.operationId);
    if (tool === undefined) continue;
    const ajv = new Ajv2020({ strict: false, code: { optimize: false } });
    addFormats.default(ajv, ['date', 'date-time', 'uuid']);
    const validate = ajv.compile(tool.outputSchema);
    const { answer, unavailable = answer } = examples.bodies[nameBody(route)] ?? {};
    const cut = JSON.parse(capAnswer(answer, 4_000).text);
    expect([tool.name, [answer, unavailable, cut].map((body) => validate(body))]).toEqual([
      tool.name,
      [true, true, true],
    ]);
    expect([tool.name, validate({ ...(answer as object), schemaVersion: 99 })]).toEqual([tool.name, false]);
  }
});
