import type { Place } from '../../addresses/place.ts';

export interface DataColumn<Row> {
  /** Heading in the file, with the unit, such as `work_units`. */
  readonly name: string;
  /** Value as in the route's body; null if unknown. */
  readonly value: (row: Row) => string | number | null;
  readonly isText?: boolean;
  /** Page that the value leads to where it is shown. */
  readonly place?: (row: Row) => Place;
}

/** Data behind a chart, in the order of time. */
export interface DataRows<Row> {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly DataColumn<Row>[];
  /** Name of the column that its image draws; a table without it has no image. */
  readonly drawn?: string;
}
