/**
 * Reads, lists and changes configured resources. Each change is checked with everything that depends on it, and
 * committed atomically. The methods that kinds of resource share are here, the others in `catalog`.
 */
import { LIST_NAMES } from "../book/reading/references.ts";
import type { Instant } from "../calendar/instant.ts";
import { invariant } from "../errors.ts";
import { createWorkspace, type Workspace } from "../ledger/account-state.ts";
import type { Changes, DocumentRecord } from "../ledger/decision.ts";
import { idCollisionError, notFoundError, versionNotFoundError } from "../ledger/refusals.ts";
import { runWithPauses, createYielder } from "../store/yielder.ts";
import {
  readChangedBook,
  compileCatalog,
  type Configuration,
  findItem,
  type UncheckedDocuments,
  withDocuments,
} from "./configuration.ts";
import {
  revisionAfter,
  BOOK_LISTS,
  type Body,
  CONFIGURED_KINDS,
  toBody,
  type ConfiguredItem,
  type ConfiguredKind,
  isSameJson,
  toPlainInput,
  configuredDocumentId,
  type ConfiguredDocument,
  type DocumentLists,
  toTypedDocument,
  type DocumentOf,
} from "./documents.ts";
import type { EngineContext } from "./methods.ts";
import { type DecisionState, lockAccounts, type OperationState, runOperation } from "./operation.ts";
import { type Page, pageKey, selectPage, type PageOptions } from "./pages.ts";

/** A configured resource: parsed, and as sent. */
export interface StoredResource<Item> {
  /** Checked: references are ids, rules are parsed, decimals are Decimals. */
  readonly item: Item;
  /** Plain JSON: rules as sent, decimals as texts. */
  readonly input: Body;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** The state for an operation on the configuration. */
export interface ConfigurationState extends Pick<OperationState, "view" | "now"> {
  readonly before: Configuration;
  /** The accounts that were read before. */
  readonly workspace: Workspace;
}

/** The decision of an operation on the configuration. */
export interface ConfigurationChange {
  /** The last one is returned, even if it is unchanged. */
  readonly documents: readonly DocumentRecord[];
  /** The accounts that change with the configuration, if they were not read before. */
  readonly findAccounts?: (after: Configuration) => Promise<readonly string[]>;
  /** Further changes that depend on the changed configuration. @param accountIds the result of `findAccounts` */
  readonly computeFurtherChanges?: (
    after: Configuration,
    state: DecisionState,
    accountIds: readonly string[],
  ) => Promise<Changes>;
}

/**
 * Decides a change of the configuration under its exclusive lock, checks and commits it.
 *
 * @param decide decides the change; the last of its documents is returned
 * @param locked the accounts to lock; `readFirst` also reads them before `decide`, with all their invoices
 * @throws {RatebookError} ERR_INPUT_INVALID with the problems of the last document, ERR_REFUSED if others would break
 */
export async function changeConfigured<Kind extends ConfiguredKind>(
  context: EngineContext,
  kind: Kind,
  decide: (state: ConfigurationState) => Promise<ConfigurationChange> | ConfigurationChange,
  { accountIds, readFirst = false }: LockedAccounts = { accountIds: [] },
): Promise<StoredResource<ConfiguredItem<Kind>>> {
  return runOperation<StoredResource<ConfiguredItem<Kind>>, CheckedChange | undefined>(context, {
    scope: lockAccounts(accountIds, "exclusive"),
    async needs(state) {
      if (readFirst) return { accountIds, invoices: "all", decisionInput: undefined };
      const change = await checkChange(kind, decide, { ...state, workspace: createWorkspace(state.catalog, []) });
      return { accountIds: change.accountIds, catalog: change.after.catalog, decisionInput: change };
    },
    async decide(state, checkedChange) {
      const change = checkedChange ?? (await checkChange(kind, decide, state));
      const { id, documents, after, computeFurtherChanges } = change;
      const result = toStored(kind, id, after);
      if (documents.length === 0 && computeFurtherChanges === undefined) return { result };
      const more = (await computeFurtherChanges?.(after, state, change.accountIds)) ?? {};
      const all = [...documents, ...(more.documents ?? [])];
      return { result, changes: { ...more, documents: all }, newConfiguration: after };
    },
  });
}

/** The accounts that a change of the configuration locks. */
interface LockedAccounts {
  readonly accountIds: readonly string[];
  readonly readFirst?: boolean;
}

/** A change of the configuration, checked. */
interface CheckedChange extends Pick<ConfigurationChange, "computeFurtherChanges"> {
  /** The document to return. */
  readonly id: string;
  /** Those that change. */
  readonly documents: readonly ConfiguredDocument[];
  readonly after: Configuration;
  /** The accounts that change with the configuration. */
  readonly accountIds: readonly string[];
}

async function checkChange(
  kind: ConfiguredKind,
  decide: (state: ConfigurationState) => Promise<ConfigurationChange> | ConfigurationChange,
  { configuration: before, view, now, workspace }: OperationState & Pick<ConfigurationState, "workspace">,
): Promise<CheckedChange> {
  const yieldToOthers = createYielder();
  const { documents, findAccounts, computeFurtherChanges } = await decide({ before, view, now, workspace });
  await yieldToOthers();
  const last = documents.at(-1);
  invariant(last !== undefined, "a change of the configuration returns a document");
  const changedDocuments = documents.filter((document) => !isUnchanged(before.documents[kind], document));
  if (changedDocuments.length === 0 && computeFurtherChanges === undefined) {
    return { id: last.id, documents: [], after: before, accountIds: [] };
  }
  const checkedChange = await checkDocuments(kind, before, changedDocuments);
  const accountIds = (await findAccounts?.(checkedChange.after)) ?? [];
  return { ...checkedChange, id: last.id, accountIds, ...(computeFurtherChanges && { computeFurtherChanges }) };
}

/**
 * Checks documents of a kind, and returns them as stored with the resulting configuration.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with the problems of the last document, ERR_REFUSED if others would break
 */
export async function checkDocuments(
  kind: ConfiguredKind,
  before: Configuration,
  changed: readonly DocumentRecord[],
): Promise<{ readonly documents: readonly ConfiguredDocument[]; readonly after: Configuration }> {
  const uncheckedDocuments = withDocuments<UncheckedDocuments>(before.documents, changed);
  const book = await runWithPauses(readChangedBook(uncheckedDocuments, changed, before));
  const yieldToOthers = createYielder();
  const documents: ConfiguredDocument[] = [];
  for (const document of changed) {
    const item = findItem(kind, document.id, uncheckedDocuments, book);
    invariant(item !== undefined, "a document of the configuration has its item in the book");
    const stored = { ...document, body: toBody(kind, document.body, item) };
    documents.push(toTypedDocument(kind, stored) as ConfiguredDocument);
    await yieldToOthers();
  }
  // Compile what is stored, not what was sent, as other engines will.
  const after = withDocuments(before.documents, documents);
  const catalog = await runWithPauses(compileCatalog(after, before, before.catalog.options));
  return { documents, after: { ...before, revision: revisionAfter(before.revision), documents: after, catalog } };
}

/** Creates a document from a request body. */
export function newDocument(kind: ConfiguredKind, body: Body, now: Instant): DocumentRecord {
  const plain = toPlainInput(body) as Body;
  return { kind, id: configuredDocumentId(kind, plain), createdAt: now, updatedAt: now, body: plain };
}

/**
 * Creates a document with a generated id.
 *
 * @throws {RatebookError} ERR_TAKEN if the generated id exists, because the other document would be replaced
 */
export function addDocument(
  { documents }: Configuration,
  kind: ConfiguredKind,
  body: Body,
  now: Instant,
): DocumentRecord {
  const document = newDocument(kind, body, now);
  if (!documents[kind].some(({ id }) => id === document.id)) return document;
  throw idCollisionError(kind, String(body["id"]));
}

/** Reads a resource: a version, or the latest one. @throws {RatebookError} ERR_NOT_FOUND */
export async function readConfigured<Kind extends ConfiguredKind>(
  context: EngineContext,
  kind: Kind,
  name: string,
  version?: number,
): Promise<StoredResource<ConfiguredItem<Kind>>> {
  const configuration = await context.configuration(context.store.read);
  return toStored(kind, requireDocument(configuration, kind, name, version).id, configuration);
}

/**
 * A page of the resources of a kind, each in its latest version, newest first by the age of the first version: a new
 * version does not move a resource while pages are read.
 *
 * @param filter the values of fields, or lists of them; undefined ones do not filter
 */
export async function listConfigured<Kind extends ConfiguredKind>(
  context: EngineContext,
  kind: Kind,
  filter: Body,
  page: PageOptions,
): Promise<Page<StoredResource<ConfiguredItem<Kind>>>> {
  const configuration = await context.configuration(context.store.read);
  const resources = new Map<string, { readonly first: DocumentRecord; readonly latest: DocumentRecord }>();
  for (const document of configuration.documents[kind]) {
    const { first = document, latest = document } = resources.get(nameOf(document)) ?? {};
    resources.set(nameOf(document), {
      first: versionOf(document) < versionOf(first) ? document : first,
      latest: versionOf(document) > versionOf(latest) ? document : latest,
    });
  }
  const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
  const selected = [...resources.values()].filter(({ latest }) =>
    wanted.every(([field, value]) => [value].flat().includes(latest.body[field])),
  );
  const { items, ...more } = selectPage(selected, page, ({ first }) => pageKey(first));
  return { items: items.map(({ latest }) => toStored(kind, latest.id, configuration)), ...more };
}

/** All selected documents of a kind as resources, oldest first. */
export async function listAllConfigured<Kind extends ConfiguredKind>(
  context: EngineContext,
  kind: Kind,
  select: (document: DocumentOf<Kind>) => boolean,
): Promise<readonly StoredResource<ConfiguredItem<Kind>>[]> {
  const { documents, catalog } = await context.configuration(context.store.read);
  return documentsOfKind(kind, { documents }).flatMap((document, place) =>
    select(document) ? [toStoredResource<Kind>(document, catalog.book[BOOK_LISTS[kind]][place])] : [],
  );
}

/** Resources have an id; event schemas have a name. */
export function nameField(kind: DocumentRecord["kind"]): "id" | "name" {
  return kind === "eventSchema" ? "name" : "id";
}

/** The name that all versions of a resource share; a setting has the id of its document (S4.2). */
export function nameOf({ kind, id, body }: DocumentRecord): string {
  return kind === "setting" ? id : String(body[nameField(kind)]);
}

function versionOf({ body: { version = 1 } }: DocumentRecord): number {
  return Number(version);
}

/** A version of a resource, or the latest one. @throws {RatebookError} ERR_NOT_FOUND */
export function requireDocument<Kind extends ConfiguredKind>(
  configuration: Pick<Configuration, "documents">,
  kind: Kind,
  name: string,
  version?: number,
): DocumentOf<Kind> {
  const versions = documentsOfKind(kind, configuration).filter((document) => nameOf(document) === name);
  const latest = Math.max(...versions.map(versionOf));
  const match = versions.find((document) => versionOf(document) === (version ?? latest));
  if (match !== undefined) return match;
  const noun = nounOf(kind);
  throw version === undefined || versions.length === 0
    ? notFoundError(noun, name, nameField(kind))
    : versionNotFoundError(noun, name, version);
}

/** What a kind of document is called in messages. */
export function nounOf(kind: DocumentRecord["kind"]): string {
  const configuredKind = CONFIGURED_KINDS.find((each) => each === kind);
  return configuredKind === undefined ? kind : LIST_NAMES[BOOK_LISTS[configuredKind]];
}

function documentsOfKind<Kind extends ConfiguredKind>(
  kind: Kind,
  { documents }: { readonly documents: DocumentLists },
): readonly DocumentOf<Kind>[] {
  return documents[kind];
}

function toStored<Kind extends ConfiguredKind>(
  kind: Kind,
  id: string,
  { documents, catalog }: Configuration,
): StoredResource<ConfiguredItem<Kind>> {
  const document = documents[kind].find((each) => each.id === id);
  return toStoredResource<Kind>(document, findItem(kind, id, documents, catalog.book));
}

/** A document with its item, which has the same index in the book. */
function toStoredResource<Kind extends ConfiguredKind>(
  document: DocumentRecord | undefined,
  item: ConfiguredItem<Kind> | undefined,
): StoredResource<ConfiguredItem<Kind>> {
  invariant(document !== undefined && item !== undefined, "a document of the configuration has its item in the book");
  return { item, input: document.body, createdAt: document.createdAt, updatedAt: document.updatedAt };
}

function isUnchanged(documents: readonly DocumentRecord[], document: DocumentRecord): boolean {
  const before = documents.find(({ id }) => id === document.id);
  return before !== undefined && isSameJson(before.body, document.body);
}
