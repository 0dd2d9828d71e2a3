import type { Writable } from 'node:stream';
import { openApiDocument } from '../../http/routes/openApi.ts';

export function printOpenApi(output: Writable, version: string): void {
  output.write(`${JSON.stringify(openApiDocument(version), null, 2)}\n`);
}
