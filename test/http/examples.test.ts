import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { feedEvent } from '../../http/responses/feed/feedEvent.ts';
import { examples } from '../../http/routes/documentation/examples.ts';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { startLocalService } from '../support/explorer/localService.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { parseStream, recordExamples } from '../support/http/recordExamples.ts';
import { validateExamples } from '../support/http/validateExamples.ts';

const file = resolve(import.meta.dirname, '../../http/routes/documentation/examples.json');

// `npm run examples` runs this instead of the checks: they have loaded the examples that it replaces.
if (process.env.MINER_EXAMPLES === 'record')
  it('the examples of the OpenAPI description are recorded', async () => {
    const [local, unreadable] = await Promise.all([startLocalService(), startPublicServer()]);
    const { bodies, eventStream } = await recordExamples(local.url, unreadable.base);
    const lines = Object.entries(bodies).map(([id, one]) => `${JSON.stringify(id)}: ${JSON.stringify(one)}`);
    writeFileSync(
      file,
      `{ "bodies": {\n${lines.join(',\n')}\n},\n"eventStream": ${JSON.stringify(eventStream)} }\n`,
    );
  });
else
  describe('the examples of the OpenAPI description', () => {
    it('are events of the feed, resumed, for the event stream', () => {
      const events = parseStream(examples.eventStream);
      expect(events).toHaveLength(2);
      for (const { type, data } of events) expect(feedEvent.parse(data)).toMatchObject({ type });
      expect(examples.eventStream).toMatch(/^retry: \d+\n(?::\n)*id: \S+\nevent: /);
    });

    it('are there for every answer that has a body, and fit its schema (npm run examples)', () => {
      expect(validateExamples(createOpenApiDocument())).toEqual([]);
    });

    it('are found if they are missing or do not fit', () => {
      const document = JSON.parse(JSON.stringify(createOpenApiDocument()));
      document.components.examples.Telemetry.value.status = 'yesterday';
      const { responses } = document.paths['/v1/status'].get;
      delete responses['429'].content['application/json'].examples;
      responses['400'].content['application/json'].examples.invalid_query.value = { error: 'unknown' };
      expect(validateExamples(document).map(({ place }) => place)).toEqual([
        '/v1/public/telemetry 200 answer',
        '/v1/public/installations/{installationId}/telemetry 200 answer',
        '/v1/status 400 invalid_query',
        '/v1/status 429',
      ]);
    });
  });
