import { parse, stringify } from '../bigintJson.ts';
import type { InstallationState } from './installationActor.ts';

/** An installation's state as one line of JSON and back. */
export function encodeInstallationState(state: InstallationState): string {
  return stringify(state);
}

/** @throws SyntaxError when the line is not one that {@link encodeInstallationState} made. */
export function decodeInstallationState(line: string): InstallationState {
  return parse(line) as InstallationState;
}
