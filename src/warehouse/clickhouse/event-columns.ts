/**
 * The event file map for a ClickHouse table, as a value.
 *
 * @module
 */

/**
 * The source of a text: a column, one value for all rows, or a template with columns in braces, such as
 * `"{region}-{n}"`.
 */
export type ColumnOrigin =
  | { readonly column: string }
  | { readonly value: string | number }
  | { readonly template: string };

/** The columns of events. */
export interface EventColumns {
  readonly schemaName: ColumnOrigin;
  readonly id: ColumnOrigin;
  /** An account id or alias. */
  readonly accountId: ColumnOrigin;
  /**
   * A column of instants; of texts, with the `zone` for those without one, such as `"+05:30"`; or of whole numbers with
   * their `form`.
   */
  readonly timestamp: ColumnOrigin & {
    readonly form?: "seconds" | "milliseconds" | undefined;
    readonly zone?: string | undefined;
  };
  /** By attribute name. */
  readonly attributes?: Readonly<Record<string, ColumnOrigin>> | undefined;
  /** By dimension name. */
  readonly dimensions?: Readonly<Record<string, ColumnOrigin>> | undefined;
}
