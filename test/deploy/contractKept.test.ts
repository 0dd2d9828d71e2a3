import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Contract, toContract, writeContract } from '../../deploy/release/contract.ts';
import { releaseChangelog, requireNewer } from '../../deploy/release/releaseChangelog.ts';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { findBreakingChanges } from './breakingChanges.ts';

const readReleased = () =>
  JSON.parse(
    readFileSync(resolve(import.meta.dirname, '../../deploy/release/released.json'), 'utf8'),
  ) as Contract;
const major = (version: string) => Number(version.split('.')[0]);

it('today’s routes keep the released contract, unless they have a new major version', () => {
  const today = toContract(createOpenApiDocument());
  const released = readReleased();
  if (major(today.info.version) > major(released.info.version)) return;
  // A change that breaks programs needs a new `interfaceVersion` (CONTRIBUTING.md, Releases).
  expect(findBreakingChanges(released, today)).toEqual([]);
});

describe('a change of the contract', () => {
  const place = (path: string) => ['paths', path, 'get'];
  const telemetry = '/v1/public/telemetry';
  const body = ['components', 'schemas', 'Telemetry'];
  const events = ['paths', '/v1/events', 'get', 'parameters'];
  const limit = { in: 'query', name: 'other', schema: { type: 'string' } };

  /** Enough of the released contract, since a comparison goes through all of it. */
  const { paths, ...others } = readReleased();
  const examined = [telemetry, '/v1/status', '/v1/events', '/v1/public/modules'];
  const released = {
    ...others,
    paths: Object.fromEntries(Object.entries(paths).filter(([path]) => examined.includes(path))),
  };

  /** Breaking changes if one place of the released contract has another value; without a value the place is removed. */
  function change(at: readonly (string | number)[], value?: unknown): string[] {
    const changed = JSON.parse(JSON.stringify(released));
    const key = at.at(-1) as string;
    const parent = at.slice(0, -1).reduce((within, name) => within[name], changed);
    if (value === undefined && Array.isArray(parent)) parent.splice(Number(key), 1);
    else if (value === undefined) delete parent[key];
    else parent[key] = value;
    return findBreakingChanges(released, changed);
  }

  it('breaks it by removing something or adding unknown values', () => {
    expect(change(['paths', telemetry])).toEqual([`${telemetry}: is gone`]);
    expect(change([...place(telemetry), 'responses', '418'], {})).toEqual([`${telemetry} 418: is new`]);
    expect(change([...place('/v1/status'), 'responses', '304'])).toEqual(['/v1/status 304: is gone']);
    expect(change([...place('/v1/status'), 'responses', '200', 'headers', 'X-Request-Id'])).toEqual([
      '/v1/status 200 header X-Request-Id: is gone',
    ]);
    expect(change([...body, 'properties', 'receivedAt'])).toContain(
      `${telemetry} 200 body.receivedAt: is gone`,
    );
    expect(change([...body, 'required'], ['schemaVersion'])).toContain(
      `${telemetry} 200 body.status: may be missing`,
    );
    expect(change([...body, 'properties', 'schemaVersion', 'const'], 2)).toContain(
      `${telemetry} 200 body.schemaVersion: may be 2`,
    );
    expect(change([...body, 'properties', 'status', 'enum'], ['online', 'asleep'])).toContain(
      `${telemetry} 200 body.status: may be "asleep"`,
    );
    expect(change([...body, 'properties', 'installationId'], { type: 'integer' })).toContain(
      `${telemetry} 200 body.installationId: may be of type integer`,
    );
    const payload = ['components', 'schemas', 'SettlementCompletedPayload', 'properties'];
    expect(change([...payload, 'more'], { type: 'string' })).toContain(
      '/v1/events 200 body.events[].payload.more: is new',
    );
    expect(change(['components', 'schemas', 'Modules', 'properties', 'modules', 'maxItems'], 1e9)).toEqual(
      [],
    );
    expect(
      change(['components', 'schemas', 'EventFeedAvailable', 'properties', 'events', 'maxItems'], 101),
    ).toContain('/v1/events 200 body.events: maxItems is higher');
    expect(change(['components', 'schemas', 'Decimal', 'pattern'], '.*')).toContain(
      `${telemetry} 200 body.measurement.cumulativeWorkUnits: pattern differs`,
    );
  });

  it('breaks it by demanding more of a request', () => {
    const names = released.paths['/v1/events']?.get.parameters?.map(({ name }) => name) ?? [];
    const at = (name: string) => [...events, names.indexOf(name)];
    expect(change(at('category'))).toEqual(['/v1/events query category: is gone']);
    expect(change([...at('category'), 'required'], true)).toEqual([
      '/v1/events query category: is required now',
    ]);
    expect(change([...at('limit'), 'schema', 'maximum'], 50)).toEqual([
      '/v1/events query limit: maximum is higher',
    ]);
    expect(change([...at('category'), 'schema', 'enum'], ['all'])).toHaveLength(3);
    expect(change([...events, names.length], { ...limit, required: true })).toEqual([
      '/v1/events query other: is required now',
    ]);
  });

  it('keeps it by adding ignored members or accepting more', () => {
    expect(change(['paths', '/v9/more'], { get: { responses: {} } })).toEqual([]);
    expect(change([...body, 'properties', 'more'], { type: 'string' })).toEqual([]);
    expect(change([...place(telemetry), 'responses', '500'])).toEqual([]);
    expect(change([...body, 'properties', 'status', 'enum'], ['online'])).toEqual([]);
    const { length } = released.paths['/v1/events']?.get.parameters ?? [];
    expect(change([...events, length ?? 0], limit)).toEqual([]);
  });

  it('ignores explanations', () => {
    const contract = toContract(createOpenApiDocument());
    expect(JSON.parse(writeContract(contract))).toEqual(contract);
    const { schemas } = contract.components;
    expect(Object.keys(schemas.Telemetry ?? {}).sort()).toEqual(['properties', 'required', 'type']);
    // A member with the name of a keyword stays.
    expect(JSON.stringify(schemas)).toContain('"description":{');
  });
});

describe('a release', () => {
  const changelog = '# Changelog\n\n## Unreleased\n\n- Something new.\n\n## 0.1.0\n\n- All.\n';

  it('names its version and day in the changelog, and begins the next section', () => {
    expect(releaseChangelog(changelog, '0.2.0', '2026-02-01')).toBe(
      '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-02-01)\n\n- Something new.\n\n## 0.1.0\n\n- All.\n',
    );
  });

  it('has a version above the last one, and an entry in the changelog', () => {
    const empty = changelog.replace('- Something new.\n\n', '');
    expect(() => releaseChangelog(empty, '0.2.0', '2026-02-01')).toThrow('nothing is unreleased');
    for (const version of ['0.1.0', '0.0.9', '1.0', 'v2.0.0'])
      expect(() => requireNewer('0.1.0', version)).toThrow();
    for (const version of ['0.9.1', '0.10.0', '1.0.0'])
      expect(() => requireNewer('0.9.0', version)).not.toThrow();
  });
});
