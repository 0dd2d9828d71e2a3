import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, it } from 'vitest';
import { startPublicServer } from '../support/http/publicServer.ts';
import { messageExamples } from '../support/messageExamples.ts';

it('the schemas of messages are served, and accept the examples of messages', async () => {
  const { get } = await startPublicServer();
  const { messages } = (await (await get('/schemas')).json()) as { messages: Record<string, string> };
  const schemas: Record<string, string> = {
    CounterReadingMessage: 'counter.my~wheel',
    ModuleSnapshotMessage: 'module.my~wheel.sensor-1',
    SignerMessage: 'signer.my~wheel',
    OracleMessage: 'oracle.my~wheel',
    ReporterMessage: 'reporter.my~wheel',
    ChainSpanMessage: 'chain.1.span',
    ChainReadsMessage: 'chain.1.reads',
  };
  expect(Object.keys(messages)).toEqual(Object.keys(schemas));
  for (const [name, path] of Object.entries(messages)) {
    const response = await get(path);
    expect(response.headers.get('content-type')).toBe('application/schema+json');
    const ajv = new Ajv2020();
    formats.default(ajv);
    const validate = ajv.compile((await response.json()) as object);
    const bodies = messageExamples.filter(({ subject }) => subject === `miner.${schemas[name]}`);
    expect(bodies).not.toEqual([]);
    for (const { text } of bodies) expect([text, validate(JSON.parse(text))]).toEqual([text, true]);
    expect(validate({})).toBe(false);
  }
});
