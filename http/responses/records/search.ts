import { z } from 'zod';
import { defineObject, installationId, schemaVersion } from '../scalars.ts';

export const searchKinds = ['owner', 'miner', 'round', 'transaction', 'day', 'event'] as const;

export const searchResponse = z
  .strictObject({
    schemaVersion: schemaVersion(1),
    installationId: installationId.describe('The public installation'),
    query: z.string().describe('The text of the request'),
    results: z
      .array(
        defineObject('SearchResult', {
          kind: z.enum(searchKinds).meta({ id: 'SearchResultKind' }).describe('What it is'),
          id: z.string().min(1).describe('Its number, address, hash, date or event ID'),
          route: z
            .string()
            .regex(/^\/v1\//)
            .describe('Path of the route that shows it'),
          page: z.string().regex(/^\//).describe('Path of the page that shows it'),
        }),
      )
      .describe('What the text may stand for; a number may be several things'),
    reason: z
      .string()
      .nullable()
      .describe(
        'For people: why no page is found, or what to choose from; null if there is one page, which for a word is `/about`',
      ),
  })
  .meta({ id: 'SearchResults', description: 'What a text stands for, as the search of the pages finds it' });
