import type { AnyStateMachine } from 'xstate';
import { type DirectedGraphEdge, type DirectedGraphNode, toDirectedGraph } from 'xstate/graph';
import { chainAvailabilityMachine } from '../machines/chainAvailabilityMachine.ts';
import { collectionPhaseMachine } from '../machines/collectionPhaseMachine.ts';
import { deliveryMachine } from '../machines/deliveryMachine.ts';
import { freshnessMachine } from '../machines/freshnessMachine.ts';
import { indexerMachine } from '../machines/indexerMachine.ts';
import { mergeStateMachine } from '../machines/mergeStateMachine.ts';
import { messageSourceMachine } from '../machines/messageSourceMachine.ts';
import { mintRoundMachine } from '../machines/mintRoundMachine.ts';
import { moduleMachine } from '../machines/moduleMachine.ts';
import { oracleMachine } from '../machines/oracleMachine.ts';
import { settlementQueueMachine } from '../machines/settlementQueueMachine.ts';
import { settlementSourceMachine } from '../machines/settlementSourceMachine.ts';
import { streamFollowerMachine } from '../machines/streamFollowerMachine.ts';
import { submissionMachine } from '../machines/submissionMachine.ts';

/** Every machine, in the order of the README of `machines/`. */
export const machines: readonly AnyStateMachine[] = [
  freshnessMachine,
  moduleMachine,
  oracleMachine,
  submissionMachine,
  settlementQueueMachine,
  chainAvailabilityMachine,
  settlementSourceMachine,
  mintRoundMachine,
  collectionPhaseMachine,
  mergeStateMachine,
  indexerMachine,
  messageSourceMachine,
  streamFollowerMachine,
  deliveryMachine,
];

/** A state machine as a Mermaid state diagram, made from the machine itself. */
export function machineDiagram(machine: AnyStateMachine): string {
  const root = toDirectedGraph(machine);
  // What any state answers is drawn once, from a state of all of them; without a target it changes no state.
  const fromAny = root.edges
    .filter(({ target }) => target.id !== root.id)
    .map((edge) => `  any --> ${nameOf(edge.target.id)}: ${labelOf(edge)}`);
  return ['stateDiagram-v2', `  [*] --> ${initialOf(root)}`, ...fromAny, ...drawChildren(root)].join('\n');
}

function drawChildren(node: DirectedGraphNode): string[] {
  return node.children.flatMap((child) => [
    ...(child.children.length === 0
      ? []
      : [
          `  state ${nameOf(child.id)} {`,
          `    [*] --> ${initialOf(child)}`,
          ...drawChildren(child).map((line) => `  ${line}`),
          '  }',
        ]),
    // Two faults that lead to the same state are one arrow.
    ...new Set(
      child.edges
        .filter(({ target, source }) => target.id !== source.id || child.children.length === 0)
        .map((edge) => `  ${nameOf(child.id)} --> ${nameOf(edge.target.id)}: ${labelOf(edge)}`),
    ),
    ...(child.stateNode.type === 'final' ? [`  ${nameOf(child.id)} --> [*]`] : []),
  ]);
}

/** The last part of an ID: names of states are unique within each machine. */
function nameOf(id: string): string {
  return id.slice(id.lastIndexOf('.') + 1).replaceAll('-', '_');
}

function initialOf({ stateNode }: DirectedGraphNode): string {
  return String(stateNode.config.initial).replaceAll('-', '_');
}

function labelOf({ label, transition }: DirectedGraphEdge): string {
  const { guard } = transition;
  const name = typeof guard === 'string' ? guard : (guard as { type?: string } | undefined)?.type;
  const event = readableEvent(label.text);
  return name === undefined ? event : `${event} [${name}]`;
}

/** What XState names the end of work and of waiting. */
function readableEvent(event: string): string {
  if (event.startsWith('xstate.done.')) return 'done';
  if (event.startsWith('xstate.error.')) return 'failed';
  const [, after] = /^xstate\.after\.([^.]+)\./.exec(event) ?? [];
  return after === undefined ? event : `after ${after}`;
}

/** The diagrams as they stand in the README, each under the machine's name. */
export function machineDiagrams(): string {
  return machines
    .map((machine) => `### ${machine.id}\n\n\`\`\`mermaid\n${machineDiagram(machine)}\n\`\`\``)
    .join('\n\n');
}
