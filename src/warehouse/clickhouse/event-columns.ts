/**
 * Where the parts of an event are in a table, as a program says it: the map of event files as a value.
 *
 * @module
 */

/** Where a text comes from: a column; same value in all rows; or texts and columns in braces, as in `"{region}-{n}"`. */
export type ColumnOrigin =
  | { readonly column: string }
  | { readonly value: string | number }
  | { readonly template: string };

/** Where the parts of an event are. */
export interface EventColumns {
  readonly schemaName: ColumnOrigin;
  readonly id: ColumnOrigin;
  /** An id or an alias of an account. */
  readonly accountId: ColumnOrigin;
  /**
   * A column of instants; of texts, with the `zone` of those that name none, such as `"+05:30"`; or of whole numbers with their
   * `form`.
   */
  readonly timestamp: ColumnOrigin & {
    readonly form?: "seconds" | "milliseconds" | undefined;
    readonly zone?: string | undefined;
  };
  /** By the names of the attributes. */
  readonly attributes?: Readonly<Record<string, ColumnOrigin>> | undefined;
  /** By the names of the dimensions. */
  readonly dimensions?: Readonly<Record<string, ColumnOrigin>> | undefined;
}
