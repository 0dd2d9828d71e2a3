/**
 * Reads messages of an event stream, as text arrives. Returns the fields of each, also of one without data, which `eventsource-parser` does
 * not report.
 */
export function createMessageReader(): (piece: string) => ReadonlyMap<string, string>[] {
  let text = '';
  return (piece) => {
    const blocks = (text + piece).split('\n\n');
    text = blocks.pop() ?? '';
    return blocks.map(
      (block) => new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s) as [string, string])),
    );
  };
}
