import { expect, it } from 'vitest';
import { type CpuProfile, drawFlameGraph, type ProfileNode } from '../../benchmarks/profile/flameGraph.ts';

function node(id: number, functionName: string, children: number[] = [], url = ''): ProfileNode {
  return { id, callFrame: { functionName, url, lineNumber: 6 }, children };
}

/** Of each function that is drawn: how many pixels it is wide, at what depth. */
function boxesOf(svg: string): Record<string, string> {
  const boxes = svg.matchAll(/<title>([^ :]+)[^<]*<\/title><rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"/g);
  return Object.fromEntries([...boxes].map(([, name, x, y, width]) => [name, `${x} ${y} ${width}`]));
}

it('is as wide as the time in a function and what it calls, and leaves out time in which nothing ran', () => {
  const profile: CpuProfile = {
    nodes: [
      node(1, '(root)', [2, 5]),
      node(2, 'serve', [3, 4], 'file:///app/http/server.js'),
      node(3, 'write<all>'),
      node(4, ''),
      node(5, '(idle)'),
    ],
    samples: [2, 3, 5, 4, 3],
    timeDeltas: [100, 200, 5_000, 100, 400],
  };
  const svg = drawFlameGraph(profile);
  expect(boxesOf(svg)).toEqual({
    all: '0.0 0 1600.0',
    serve: '0.0 18 1600.0',
    'write&#60;all&#62;': '0.0 36 1200.0',
    '(anonymous)': '1200.0 36 200.0',
  });
  expect(svg).toContain('<title>serve (http/server.js:7): 100.0 %, 0.8 ms</title>');
  expect(svg).toContain('width="1600" height="54"');
});

it('draws calls of a function by the same callers as one', () => {
  const profile: CpuProfile = {
    nodes: [
      node(1, '(root)', [2, 3]),
      node(2, 'fold', [4]),
      node(3, 'fold', [5]),
      node(4, 'add'),
      node(5, 'add'),
    ],
    samples: [4, 5, 3],
    timeDeltas: [10, 20, 10],
  };
  expect(boxesOf(drawFlameGraph(profile))).toEqual({
    all: '0.0 0 1600.0',
    fold: '0.0 18 1600.0',
    add: '0.0 36 1200.0',
  });
});

it('names only functions that are wide enough', () => {
  const profile: CpuProfile = {
    nodes: [node(1, '(root)', [2, 3]), node(2, 'wide'), node(3, 'narrow')],
    samples: [2, 3],
    timeDeltas: [1_590, 10],
  };
  const svg = drawFlameGraph(profile);
  expect(svg).toContain('>wide</text>');
  expect(svg).toContain('<title>narrow: ');
  expect(svg).not.toContain('narro</text>');
});

it('is empty for a profile without samples', () => {
  expect(boxesOf(drawFlameGraph({ nodes: [node(1, '(root)')], samples: [], timeDeltas: [] }))).toEqual({});
});
