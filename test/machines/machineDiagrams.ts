import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { toDirectedGraph } from 'xstate/graph';
import { indexerMachine } from '../../machines/indexerMachine.ts';
import { ingestMachine } from '../../machines/ingestMachine.ts';
import { leaseMachine } from '../../machines/leaseMachine.ts';
import { messageSourceMachine } from '../../machines/messageSourceMachine.ts';
import { moduleMachine } from '../../machines/moduleMachine.ts';
import { createServiceMachine } from '../../machines/serviceMachine.ts';
import { settlementMachine } from '../../machines/settlementMachine.ts';
import { streamFollowerMachine } from '../../machines/streamFollowerMachine.ts';

/** Every machine. */
export const machines: readonly AnyStateMachine[] = [
  moduleMachine,
  settlementMachine,
  createServiceMachine<never>(true),
  ingestMachine,
  leaseMachine,
  indexerMachine,
  messageSourceMachine,
  streamFollowerMachine,
];

type Graph = ReturnType<typeof toDirectedGraph>;

/** A state machine as a Mermaid state diagram, generated from the machine itself. */
export function drawMachine(machine: AnyStateMachine): string {
  const root = toDirectedGraph(machine);
  const isParallel = root.stateNode.type === 'parallel';
  const lines = isParallel ? [] : [`  [*] --> ${escapeName(String(machine.config.initial))}`];
  // A transition that every state has is drawn once, from `any`.
  lines.push(...drawArrows('any', root).map((line) => `  ${line}`));
  lines.push(...root.children.flatMap((child) => drawState(child, isParallel)).map((line) => `  ${line}`));
  return `${['stateDiagram-v2', ...lines].join('\n')}\n`;
}

/** Draws a state with its arrows, and a compound state around its children. Each region of a parallel state has its own initial state. */
function drawState(graph: Graph, isRegion: boolean): string[] {
  const { stateNode, children } = graph;
  const name = escapeName(stateNode.key);
  const arrows = drawArrows(name, graph);
  if (stateNode.type === 'final') return [...arrows, `${name} --> [*]`];
  if (children.length === 0) return arrows;
  const begin =
    isRegion || stateNode.config.initial !== undefined
      ? [`[*] --> ${escapeName(String(stateNode.config.initial))}`]
      : [];
  const inside = [...begin, ...children.flatMap(drawInside)];
  return [`state ${name} {`, ...inside.map((line) => `  ${line}`), '}', ...arrows];
}

/**
 * Draws one arrow to each target, with all events that lead there. A guard is left out if its event leads there without it, and so is a report of the
 * machine's own work that changes no state. Decisions without an event come last.
 */
function drawArrows(name: string, graph: Graph): string[] {
  const { edges, stateNode } = graph;
  const decisions = (stateNode.always ?? []).flatMap((transition) =>
    (transition.target ?? []).map((target) => ({ target, label: { text: '' }, transition })),
  );
  const changes = edges.filter(
    ({ label, transition }) => transition.target !== undefined || !label.text.startsWith('xstate.'),
  );
  const labels = new Map<string, Set<string>>();
  for (const { target, label, transition } of [...changes, ...decisions]) {
    const targetName = nameTarget(target, graph);
    const known = labels.get(targetName) ?? new Set();
    labels.set(targetName, known.add(formatLabel(label.text, transition.guard)));
  }
  return [...labels].map(([target, known]) => {
    const needed = [...known].filter((label) => {
      const [event = '', guard] = label.split(' [');
      return guard === undefined || !known.has(event);
    });
    return `${name} --> ${target}: ${needed.join(', ')}`;
  });
}

/** A state without arrows is named, so that it is drawn inside its parent. */
function drawInside(graph: Graph): string[] {
  const lines = drawState(graph, false);
  return lines.length > 0 ? lines : [escapeName(graph.stateNode.key)];
}

function nameTarget(target: AnyStateNode, source: Graph): string {
  const isRoot = target.id === source.id && source.stateNode.parent === undefined;
  return isRoot ? 'any' : escapeName(target.key);
}

function escapeName(key: string): string {
  return key.replaceAll('-', '_');
}

function formatLabel(text: string, guard: unknown): string {
  const [name, event] = [findName(guard), formatEvent(text)];
  return name === undefined ? event : `${event} [${name}]`;
}

function formatEvent(event: string): string {
  if (event === '') return 'always';
  if (event.startsWith('xstate.done.')) return 'done';
  if (event.startsWith('xstate.error.')) return 'failed';
  const [, delay] = /^xstate\.after\.([^.]+)\./.exec(event) ?? [];
  return delay === undefined ? event : `after ${delay}`;
}

function findName(guard: unknown): string | undefined {
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'function') return guard.name;
  const isNamed = typeof guard === 'object' && guard !== null && 'type' in guard;
  return isNamed ? String(guard.type) : undefined;
}
