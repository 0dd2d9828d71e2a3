import type { AnyStateMachine } from 'xstate';
import { toDirectedGraph } from 'xstate/graph';
import { chainAvailabilityMachine } from '../machines/chainAvailabilityMachine.ts';
import { collectionPhaseMachine } from '../machines/collectionPhaseMachine.ts';
import { freshnessMachine } from '../machines/freshnessMachine.ts';
import { indexerMachine } from '../machines/indexerMachine.ts';
import { mergeStateMachine } from '../machines/mergeStateMachine.ts';
import { messageSourceMachine } from '../machines/messageSourceMachine.ts';
import { mintRoundMachine } from '../machines/mintRoundMachine.ts';
import { moduleMachine } from '../machines/moduleMachine.ts';
import { oracleMachine } from '../machines/oracleMachine.ts';
import { rowWriterMachine } from '../machines/rowWriterMachine.ts';
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
  rowWriterMachine,
];

/** A state machine as a Mermaid state diagram, made from the machine itself. */
export function machineDiagram(machine: AnyStateMachine): string {
  const root = toDirectedGraph(machine);
  const nameOf = (id: string) => id.slice(machine.id.length + 1).replaceAll('-', '_') || machine.id;
  const lines = ['stateDiagram-v2', `  [*] --> ${String(machine.config.initial).replaceAll('-', '_')}`];
  // What any state answers is drawn once, from a state of all of them.
  for (const { target, label, transition } of root.edges) {
    lines.push(`  any --> ${nameOf(target.id)}: ${labelOf(label.text, transition.guard)}`);
  }
  for (const child of root.children) {
    for (const { source, target, label, transition } of child.edges) {
      lines.push(`  ${nameOf(source.id)} --> ${nameOf(target.id)}: ${labelOf(label.text, transition.guard)}`);
    }
    if (child.stateNode.type === 'final') lines.push(`  ${nameOf(child.id)} --> [*]`);
  }
  return lines.join('\n');
}

function labelOf(event: string, guard: unknown): string {
  const name = typeof guard === 'string' ? guard : (guard as { type?: string } | undefined)?.type;
  return name === undefined ? event : `${event} [${name}]`;
}

/** The diagrams as they stand in the README, each under the machine's name. */
export function machineDiagrams(): string {
  return machines
    .map((machine) => `### ${machine.id}\n\n\`\`\`mermaid\n${machineDiagram(machine)}\n\`\`\``)
    .join('\n\n');
}
