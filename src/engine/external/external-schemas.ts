/**
 * The external event schemas, recorded in the store for all engines: an engine without this setting would bill their
 * usage as zero (S17.4, S17.5).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { quoteText } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import type { Store } from "../../store/store.ts";
import { revisionAfter } from "../configuration-revision.ts";

/** One document per schema, by its name. */
const KIND = "usageElsewhere";

/** The schemas that any engine over the store declared external. */
export async function readExternalSchemas(view: Pick<LedgerView, "allDocuments">): Promise<readonly string[]> {
  return (await view.allDocuments(KIND)).map(({ id }) => id);
}

/** The engine options about external schemas. */
export interface ExternalSchemas {
  /** Schemas with external usage. */
  readonly external: readonly string[];
  /** Schemas that were external and are ingested from now on. */
  readonly resumeIngest: readonly string[];
}

/** Records an engine's external schemas, once, before it changes anything else. @returns undefined if there are none */
export function createExternalSchemaRecorder(
  sources: ExternalSchemas,
  clock: () => Instant,
): ((store: Store) => Promise<void>) | undefined {
  if (sources.external.length === 0 && sources.resumeIngest.length === 0) return undefined;
  let runningCommit: Promise<void> | undefined;
  return async (store) => {
    runningCommit ??= recordExternalSchemas(store, sources, clock);
    try {
      await runningCommit;
    } catch (error) {
      runningCommit = undefined;
      throw error;
    }
  };
}

async function recordExternalSchemas(
  store: Store,
  { external, resumeIngest }: ExternalSchemas,
  clock: () => Instant,
): Promise<void> {
  const findChanges = async (view: LedgerView): Promise<readonly [string[], string[]]> => {
    const recordedNames = new Set(await readExternalSchemas(view));
    return [
      [...new Set(external)].filter((name) => !recordedNames.has(name)),
      [...new Set(resumeIngest)].filter((name) => recordedNames.has(name)),
    ];
  };
  if ((await findChanges(store.read)).every((names) => names.length === 0)) return;
  await store.transact({ configuration: "exclusive", accountIds: [], eventIds: [] }, async (view) => {
    const [added, removed] = await findChanges(view);
    const at = clock();
    const documents = added.map((id) => ({ kind: KIND, id, createdAt: at, updatedAt: at, body: {} }) as const);
    const removedDocuments = removed.map((id) => ({ kind: KIND, id }) as const);
    const configurationRevision = revisionAfter(await view.configurationRevision());
    return { result: undefined, changes: { documents, removedDocuments, configurationRevision } };
  });
}

/**
 * Checks that the engine's source has the usage of every external schema.
 *
 * @param sourceSchemas the schemas that the source has
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE for the first other one
 */
export function checkUsageSource(
  { book, options }: Pick<Catalog, "book" | "options">,
  sourceSchemas: readonly string[],
): void {
  const { externalSchemas } = options;
  if (externalSchemas.length === 0) return;
  const missingSchema = book.eventSchemas.find(
    ({ name }) => externalSchemas.includes(name) && !sourceSchemas.includes(name),
  );
  if (missingSchema === undefined) return;
  const sentence =
    "this engine has no source for it; start it with the option usage (--usage and --usage-schemas on the command line)";
  throw new RatebookError(
    "ERR_USAGE_UNAVAILABLE",
    `usage of the event schema ${quoteText(missingSchema.name)} is external, and ${sentence}`,
    {},
  );
}
