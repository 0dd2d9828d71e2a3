import { expect, it } from 'vitest';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';

interface Described {
  readonly description?: string;
  readonly schema?: Described;
  readonly $ref?: string;
}

const document = JSON.parse(JSON.stringify(createOpenApiDocument()));

const isDescribed = ({ description, schema, $ref }: Described): boolean =>
  Boolean(description) ||
  (schema !== undefined && isDescribed(schema)) ||
  ($ref !== undefined && isDescribed(document.components.schemas[$ref.split('/').at(-1) as string]));

/** Every property, parameter and header, with its place in the document. */
function* listNamed(value: object, place: string): Iterable<readonly [string, Described]> {
  for (const [key, member] of Object.entries(value)) {
    if (typeof member !== 'object' || member === null) continue;
    if (key === 'properties' || key === 'headers')
      for (const [name, one] of Object.entries(member)) yield [`${place}/${key}/${name}`, one as Described];
    if (typeof member.name === 'string' && 'in' in member) yield [`${place}/${member.name}`, member];
    yield* listNamed(member, `${place}/${key}`);
  }
}

it('the OpenAPI description says of every property, parameter and header what it is', () => {
  const named = [...listNamed(document, '')];
  expect(named.length).toBeGreaterThan(500);
  expect(named.filter(([, one]) => !isDescribed(one)).map(([place]) => place)).toEqual([]);
});

/** Every text that explains something, with its place in the document. */
function* listTexts(value: object, place: string): Iterable<readonly [string, string]> {
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) yield* listTexts(member, `${place}/${key}`);
    else if (key === 'description' || key === 'summary') yield [`${place}/${key}`, member];
  }
}

it('no text of the OpenAPI description is empty', () => {
  const texts = [...listTexts(document, '')];
  expect(texts.length).toBeGreaterThan(1_000);
  expect(texts.filter(([, text]) => text === '').map(([place]) => place)).toEqual([]);
});
