import type { DataColumn } from '../../explorer/tables/dataTable.ts';
import {
  activityColumns,
  batchColumns,
  checkpointColumns,
  roundColumns,
} from '../../explorer/tables/lists.ts';
import { parseOwner } from '../../routes/ownerAddress.ts';
import { type CsvTable, ofRoute, type TableFile, writeFile } from './csvFile.ts';

/** Lists of routes as files, in the order of time. They take the parameters of their routes. */
export const csvLists: Readonly<Record<string, TableFile>> = {
  'rounds.csv': ofRoute('/v1/rounds', null, (query) => ofList('rounds', roundColumns, query)),
  'batches.csv': ofRoute('/v1/batches', null, (query) => ofList('batches', batchColumns, query)),
  'checkpoints.csv': ofRoute('/v1/checkpoints', null, (query) =>
    ofList('checkpoints', checkpointColumns, query),
  ),
  'activity.csv': ofRoute('/v1/owners/{address}/activity', null, (query) => {
    const { owner = '', ...others } = Object.fromEntries(new URLSearchParams(query));
    const address = parseOwner(owner);
    if (address === null) return null;
    const route = `/v1/owners/${address}/activity`;
    return { ...ofList('activity', activityColumns, query), pagePath: toPagePath(route, others) };
  }),
};

/** @param name the list's name: the member of its bodies, its file and the end of its route. */
function ofList<Row>(name: string, columns: readonly DataColumn<Row>[], query: string): CsvTable {
  const parameters = Object.fromEntries(new URLSearchParams(query));
  type Body = { readonly status: string; readonly nextCursor: string | null } & Record<
    string,
    readonly Row[]
  >;
  return {
    key: `list ${name}`,
    readPaths: [],
    pagePath: toPagePath(`/v1/${name}`, parameters),
    write: (read, pages) => {
      // The pages are bodies of the list's route.
      const bodies = pages as readonly (Body | null)[];
      if (bodies.some((body) => body?.status !== 'available')) return null;
      const rows = bodies.flatMap((body) => body?.[name] ?? []).reverse();
      const cursor = bodies.at(-1)?.nextCursor ?? null;
      const file = writeFile(read, parameters.owner === undefined ? name : `${name}-${parameters.owner}`, {
        caption: name,
        rows,
        columns,
      });
      if (cursor === null) return file;
      return { ...file, next: `/tables/${name}.csv?${new URLSearchParams({ ...parameters, cursor })}` };
    },
  };
}

function toPagePath(route: string, parameters: Readonly<Record<string, string>>) {
  return (cursor: string | null) =>
    `${route}?${new URLSearchParams({ ...parameters, limit: '100', ...(cursor !== null && { cursor }) })}`;
}
