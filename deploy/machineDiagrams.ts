import type { AnyStateMachine } from 'xstate';
import { toDirectedGraph } from 'xstate/graph';
import { indexerMachine } from '../machines/indexerMachine.ts';
import { messageSourceMachine } from '../machines/messageSourceMachine.ts';
import { moduleMachine } from '../machines/moduleMachine.ts';
import { rowWriterMachine } from '../machines/rowWriterMachine.ts';
import { settlementMachine } from '../machines/settlementMachine.ts';
import { streamFollowerMachine } from '../machines/streamFollowerMachine.ts';

/** Every machine, in the order of the README of `machines/`. */
export const machines: readonly AnyStateMachine[] = [
  moduleMachine,
  settlementMachine,
  indexerMachine,
  messageSourceMachine,
  streamFollowerMachine,
  rowWriterMachine,
];

type Graph = ReturnType<typeof toDirectedGraph>;

/** A state machine as a Mermaid state diagram, made from the machine itself. */
export function machineDiagram(machine: AnyStateMachine): string {
  const root = toDirectedGraph(machine);
  const isParallel = root.stateNode.type === 'parallel';
  const lines = isParallel ? [] : [`  [*] --> ${escapeName(String(machine.config.initial))}`];
  // What any state answers is drawn once, from a state of all of them.
  lines.push(...root.edges.map((edge) => `  any --> ${drawTarget(edge, root)}`));
  lines.push(...root.children.flatMap((child) => drawState(child, isParallel)).map((line) => `  ${line}`));
  return ['stateDiagram-v2', ...lines].join('\n');
}

/** A state with its arrows; one that holds others is drawn around them. Each region of a parallel state begins by itself. */
function drawState(graph: Graph, isRegion: boolean): string[] {
  const { stateNode, children, edges } = graph;
  const name = escapeName(stateNode.key);
  const arrows = edges.map((edge) => `${name} --> ${drawTarget(edge, graph)}`);
  if (stateNode.type === 'final') return [...arrows, `${name} --> [*]`];
  if (children.length === 0) return arrows;
  const begin = isRegion ? [`[*] --> ${escapeName(String(stateNode.config.initial))}`] : [];
  const inside = [...begin, ...children.flatMap(drawInside)];
  return [`state ${name} {`, ...inside.map((line) => `  ${line}`), '}', ...arrows];
}

/** A state without arrows of its own is named, so that it is drawn where it belongs. */
function drawInside(graph: Graph): string[] {
  const lines = drawState(graph, false);
  return lines.length > 0 ? lines : [escapeName(graph.stateNode.key)];
}

function drawTarget({ target, label, transition }: Graph['edges'][number], source: Graph): string {
  const isRoot = target.id === source.id && source.stateNode.parent === undefined;
  const name = isRoot ? 'any' : escapeName(target.key);
  return `${name}: ${labelOf(label.text, transition.guard)}`;
}

function escapeName(key: string): string {
  return key.replaceAll('-', '_');
}

function labelOf(event: string, guard: unknown): string {
  const name = nameOf(guard);
  return name === undefined ? event : `${event} [${name}]`;
}

/** A guard is named in `setup`, or a function with a name. */
function nameOf(guard: unknown): string | undefined {
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'function') return guard.name;
  return (guard as { type?: string } | undefined)?.type;
}

/** The diagrams as they stand in the README, each under the machine's name. */
export function machineDiagrams(): string {
  return machines
    .map((machine) => `### ${machine.id}\n\n\`\`\`mermaid\n${machineDiagram(machine)}\n\`\`\``)
    .join('\n\n');
}
