import { expect, it } from 'vitest';
import type { z } from 'zod';
import { capAnswer } from '../../http/mcp/capAnswer.ts';
import { tools } from '../../http/mcp/tools.ts';
import { examples } from '../../http/routes/documentation/examples.ts';

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

it('a tool asks a route, with its parameters', () => {
  const findTool = (sought: string) => tools.find(({ name }) => name === sought);
  const ask = (name: string, input: Record<string, unknown> = {}) => findTool(name)?.path(input);
  expect(ask('getStatus')).toBe('/v1/status');
  expect(ask('getInstallationTelemetry', { installationId: 'a/b' })).toContain('a%2Fb');
  expect(ask('getEvents', { category: 'chain', cursor: undefined, limit: 5 })).toMatchInlineSnapshot(
    `"/v1/events?category=chain&limit=5"`,
  );
  const formatMember = ([member, schema]: [string, z.ZodType]) =>
    schema.safeParse(undefined).success ? `${member}?` : member;
  expect(
    tools.map(({ name, input }) => [name, ...Object.entries(input).map(formatMember)].join(' ')),
  ).toMatchInlineSnapshot(`
    [
      "getTelemetry",
      "getInstallationTelemetry installationId",
      "getModules",
      "getObservations installationId cursor? limit?",
      "getStatus",
      "getStatistics range",
      "getYear",
      "getCore",
      "getSettlements range?",
      "getMiningState",
      "getPortfolio address limit? cursor?",
      "getOwnerActivity address limit? cursor?",
      "getTokenMetadata tokenId",
      "getEvents category? limit? cursor?",
    ]
  `);
  expect(findTool('getTokenMetadata')?.description).toBe(
    'Metadata of a position. Issued rewards, and the positions, earnings and activity of owners.',
  );
  expect(findTool('getEvents')?.input.category?.description).toBe('Category of the events');
  const { installationId } = findTool('getInstallationTelemetry')?.input ?? {};
  const refused = ['.', '..', '...', '.a', 'a.'].filter((id) => !installationId?.safeParse(id).success);
  expect(refused).toEqual(['.', '..']);
});
