/** The code of an error of Node or a library, such as `ENOENT`; undefined without one. */
export function readErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
