import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/processes/lifetime.ts';
import { promtool } from '../../support/processes/prometheus.ts';
import { readDeployFile } from './deployFiles.ts';
import { findMetrics, knownMetrics } from './knownMetrics.ts';

interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(readDeployFile('grafana/service.json')) as {
  readonly panels: readonly Panel[];
};

const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

describe('the dashboard', () => {
  it('queries only metrics that the service has', () => {
    const known = knownMetrics();
    expect(expressions.length).toBeGreaterThan(20);
    expect(expressions.flatMap(findMetrics).filter((metric) => !known.has(metric))).toEqual([]);
  });

  it('answers five questions, and describes each panel', () => {
    expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      'Is what it shows fresh and right?',
      'What is waiting?',
      'What is slow?',
      'What is rejected?',
      'What does it cost?',
    ]);
    for (const { title, description, type } of panels)
      if (type !== 'row') expect([title, description]).toEqual([title, expect.stringMatching(/\.$/)]);
  });

  it('queries in the language of Prometheus', () => {
    const path = join(temporaryDirectory(), 'rules.json');
    const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
    writeFileSync(path, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(promtool(['check', 'rules', path])).toMatchObject({ status: 0 });
  });
});
