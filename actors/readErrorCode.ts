/** The code of an error of Node or of a library, such as `ENOENT`; undefined where there is none. */
export function readErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
