import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

interface Example {
  readonly $ref?: string;
  readonly value?: unknown;
}

interface Content {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}

/** Lists responses of an OpenAPI document whose body has no example, and examples that their schema refuses. */
export function validateExamples(published: object): { readonly place: string; readonly fault: string }[] {
  const document = JSON.parse(JSON.stringify(published));
  const ajv = createSchemaValidator(document);
  const faults: { place: string; fault: string }[] = [];
  for (const [path, { get }] of Object.entries<{ readonly get: Operation }>(document.paths)) {
    for (const [status, { content = {} }] of Object.entries(get.responses)) {
      for (const [type, { example, examples = {} }] of Object.entries(content)) {
        const named = { ...examples, ...(example !== undefined && { example: { value: example } }) };
        if (Object.keys(named).length === 0) faults.push({ place: `${path} ${status}`, fault: 'no example' });
        const pointer = ['paths', path, 'get', 'responses', status, 'content', type, 'schema'];
        const validate = ajv.compile({ $ref: `openapi#/${pointer.map(escapePointer).join('/')}` });
        for (const [name, { $ref, value }] of Object.entries<Example>(named)) {
          const resolved =
            $ref === undefined ? value : document.components.examples[$ref.split('/').at(-1) ?? '']?.value;
          if (!validate(resolved))
            faults.push({ place: `${path} ${status} ${name}`, fault: ajv.errorsText(validate.errors) });
        }
      }
    }
  }
  return faults;
}

/** Registers a document's schemas as `openapi#/...`. */
export function createSchemaValidator(document: object): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
  for (const format of ['uint64-decimal', 'uint256-decimal']) ajv.addFormat(format, /^\d+$/);
  addFormats.default(ajv, ['date', 'date-time', 'uuid']);
  return ajv.addSchema(document, 'openapi');
}

export function escapePointer(segment: string): string {
  return encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'));
}
