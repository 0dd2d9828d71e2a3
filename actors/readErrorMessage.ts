/** The message of whatever was thrown. */
export function readErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
