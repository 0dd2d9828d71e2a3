import type { InstallationState } from './installationActor.ts';

/**
 * An installation's state as one line of JSON and back. JSON has no bigint: counters travel as decimal strings, each
 * named here, so that a new one does not compile until it is.
 */
export function encodeInstallationState({ acceptance, activity }: InstallationState): string {
  return JSON.stringify({
    acceptance: {
      latest: withDecimal(acceptance.latest),
      earlierBoots: acceptance.earlierBoots,
      earlierEpochs: acceptance.earlierEpochs.map(withDecimal),
    },
    activity: {
      coveredFromMs: activity.coveredFromMs,
      openRoundWorkUnits: activity.openRoundWorkUnits.toString(),
      bucket: { ...activity.bucket, workUnits: activity.bucket.workUnits.toString() },
    },
  } satisfies Encoded<InstallationState>);
}

/** @throws SyntaxError when the line is not one that {@link encodeInstallationState} made. */
export function decodeInstallationState(line: string): InstallationState {
  const { acceptance, activity } = JSON.parse(line) as Encoded<InstallationState>;
  return {
    acceptance: {
      latest: withCounter(acceptance.latest),
      earlierBoots: acceptance.earlierBoots,
      earlierEpochs: acceptance.earlierEpochs.map(withCounter),
    },
    activity: {
      coveredFromMs: activity.coveredFromMs,
      openRoundWorkUnits: BigInt(activity.openRoundWorkUnits),
      bucket: { ...activity.bucket, workUnits: BigInt(activity.bucket.workUnits) },
    },
  };
}

/** The same shape with each bigint as its decimal string. */
type Encoded<Value> = Value extends bigint
  ? string
  : Value extends object
    ? { readonly [Key in keyof Value]: Encoded<Value[Key]> }
    : Value;

function withDecimal<Mark extends { cumulativeWorkUnits: bigint }>(mark: Mark) {
  return { ...mark, cumulativeWorkUnits: mark.cumulativeWorkUnits.toString() };
}

function withCounter<Mark extends { cumulativeWorkUnits: string }>(mark: Mark) {
  return { ...mark, cumulativeWorkUnits: BigInt(mark.cumulativeWorkUnits) };
}
