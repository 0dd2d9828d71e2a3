import { describe, expect, it } from 'vitest';
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

describe('the dashboard', () => {
  it('queries only metrics that the service has', () => {
    const known = knownMetrics();
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
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

  it('reports an expression that is not PromQL', () => {
    expect(() => findMetrics('sum by (a (x)')).toThrow('not PromQL');
  });
});
