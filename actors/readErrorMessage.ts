/** Longest text of an error that is logged or passed on: a node or a proxy may answer with megabytes. */
const errorCharactersMax = 1_024;

export function readErrorMessage(error: unknown): string {
  return cutErrorText(error instanceof Error ? error.message : String(error));
}

export function cutErrorText(text: string): string {
  return text.length > errorCharactersMax
    ? `${text.slice(0, errorCharactersMax)}… (${text.length} characters)`
    : text;
}
