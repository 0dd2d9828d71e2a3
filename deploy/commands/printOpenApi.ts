import type { Writable } from 'node:stream';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';

export function printOpenApi(output: Writable, version: string): void {
  output.write(`${JSON.stringify(createOpenApiDocument(version), null, 2)}\n`);
}
