/**
 * Reads, lists and changes configured resources. Each change is checked with everything that depends on it, and
 * committed atomically.
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import { invariant } from "../errors.ts";
import { createWorkspace, type Workspace } from "../ledger/account-state.ts";
import type { Changes, DocumentRecord } from "../ledger/decision.ts";
import {
  invalidInputError,
  idCollisionError,
  notFoundError,
  quoteText,
  refusedError,
  alreadyTakenError,
} from "../ledger/refusals.ts";
import { describeStatus } from "../problem-table.ts";
import type { RuleNumber } from "../rulebook.ts";
import { runWithPauses, createYielder } from "../store/yielder.ts";
import { revisionAfter } from "./configuration-revision.ts";
import {
  readChangedBook,
  compileCatalog,
  type Configuration,
  type ConfiguredDocuments,
  findItem,
  withDocuments,
  withUncheckedDocuments,
} from "./configuration.ts";
import type { EngineContext } from "./context.ts";
import {
  BOOK_LISTS,
  type Body,
  toBody,
  type ConfiguredItem,
  type ConfiguredKind,
  isSameJson,
  toPlainInput,
} from "./document-body.ts";
import { configuredDocumentId } from "./document-ids.ts";
import { type ConfiguredDocument, type DocumentLists, toTypedDocument, type DocumentOf } from "./documents.ts";
import { type DecisionState, lockAccounts, type OperationState, runOperation } from "./operation.ts";
import { type Page, selectPage, type PageOptions } from "./pages.ts";

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

/** The name and the rule of a configured kind in messages. */
export interface KindWords {
  /** For example `usage meter`. */
  readonly noun: string;
  /** The rule about changes of its status. */
  readonly rule: RuleNumber;
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
  let newConfiguration: Configuration | undefined;
  const storedDocument = await runOperation<StoredResource<ConfiguredItem<Kind>>, CheckedChange | undefined>(context, {
    scope: lockAccounts(accountIds, "exclusive"),
    async needs(state) {
      newConfiguration = undefined;
      if (readFirst) return { accountIds, invoices: "all", decisionInput: undefined };
      const change = await checkChange(kind, decide, { ...state, workspace: createWorkspace(state.catalog, []) });
      return { accountIds: change.accountIds, catalog: change.after.catalog, decisionInput: change };
    },
    async decide(state, checkedChange) {
      const change = checkedChange ?? (await checkChange(kind, decide, state));
      const { id, documents, after, computeFurtherChanges } = change;
      const result = toStored(kind, id, after.documents, after);
      if (documents.length === 0 && computeFurtherChanges === undefined) return { result };
      const more = (await computeFurtherChanges?.(after, state, change.accountIds)) ?? {};
      newConfiguration = after;
      const all = [...documents, ...(more.documents ?? [])];
      return { result, changes: { ...more, documents: all, configurationRevision: after.revision } };
    },
  });
  if (newConfiguration !== undefined) context.configuration.adopt(newConfiguration);
  return storedDocument;
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
  const uncheckedDocuments = withUncheckedDocuments(before.documents, changed);
  const book = await runWithPauses(readChangedBook(uncheckedDocuments, changed, before));
  const yieldToOthers = createYielder();
  const documents: ConfiguredDocument[] = [];
  for (const document of changed) {
    const item = findItem(kind, document.id, uncheckedDocuments, book);
    invariant(item !== undefined, "a document of the configuration has its item in the book");
    documents.push(toConfiguredDocument(kind, { ...document, body: toBody(kind, document.body, item) }));
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
  const id = String(body["id"]);
  throw idCollisionError(kind, id);
}

/** A document with changed fields; null clears a field, undefined keeps it. */
export function patchDocument(document: DocumentRecord, patch: Body, now: Instant): DocumentRecord {
  const next = new Map(Object.entries(document.body));
  for (const [name, value] of Object.entries(toPlainInput(patch) as Body)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  return { ...document, updatedAt: now, body: Object.fromEntries(next) };
}

/** Reads a configured resource by document id. @throws {RatebookError} ERR_NOT_FOUND */
export async function readConfigured<Kind extends ConfiguredKind>(
  context: EngineContext,
  kind: Kind,
  find: (documents: readonly DocumentOf<Kind>[]) => DocumentOf<Kind>,
): Promise<StoredResource<ConfiguredItem<Kind>>> {
  const configuration = await context.configuration(context.store.read);
  return toStored(
    kind,
    find(documentsOfKind(kind, configuration.documents)).id,
    configuration.documents,
    configuration,
  );
}

/** A page of the resources of a kind, newest first. @param sortBy finds the document by whose age a resource is sorted; default its own */
export async function listConfigured<Kind extends ConfiguredKind>(
  context: EngineContext,
  kind: Kind,
  select: (documents: readonly DocumentOf<Kind>[]) => readonly DocumentOf<Kind>[],
  options: PageOptions,
  sortBy: (documents: readonly DocumentOf<Kind>[]) => (document: DocumentOf<Kind>) => DocumentOf<Kind> = () => identity,
): Promise<Page<StoredResource<ConfiguredItem<Kind>>>> {
  const configuration = await context.configuration(context.store.read);
  const documents = documentsOfKind(kind, configuration.documents);
  const sortDocument = sortBy(documents);
  const page = selectPage(select(documents), options, (document) => {
    const { createdAt, id } = sortDocument(document);
    return { createdAt, id };
  });
  const items = page.items.map(({ id }) => toStored(kind, id, configuration.documents, configuration));
  return page.next === undefined ? { items } : { items, next: page.next };
}

/** All selected resources of a kind, oldest first. */
export async function listAllConfigured<Kind extends ConfiguredKind>(
  context: EngineContext,
  kind: Kind,
  select: (document: DocumentOf<Kind>) => boolean,
): Promise<readonly StoredResource<ConfiguredItem<Kind>>[]> {
  const { documents, catalog } = await context.configuration(context.store.read);
  return documentsOfKind(kind, documents).flatMap((document, place) =>
    select(document) ? [toStoredResource<Kind>(document, catalog.book[BOOK_LISTS[kind]][place])] : [],
  );
}

/** A document whose name is unique among those of its kind that are not archived. */
interface NamedDocument extends DocumentRecord {
  readonly body: Body & { readonly name: string; readonly status?: string | undefined };
}

/** The document with an id. @throws {RatebookError} ERR_NOT_FOUND */
export function requireDocument<Document extends DocumentRecord>(
  documents: readonly Document[],
  noun: string,
  id: string,
): Document {
  const match = documents.find((document) => document.id === id);
  if (match === undefined) throw notFoundError(noun, id);
  return match;
}

/** Checks that no other document that is not archived has the name. @throws {RatebookError} ERR_TAKEN */
export function checkName<Document extends NamedDocument>(
  documents: readonly Document[],
  { noun }: Pick<KindWords, "noun">,
  { name }: Body,
  isOwn: (document: Document) => boolean = () => false,
): void {
  const other = documents.find((each) => each.body.name === name && each.body.status !== "ARCHIVED" && !isOwn(each));
  if (other === undefined || typeof name !== "string") return;
  throw alreadyTakenError(noun, name, `the name ${quoteText(name)} is taken by another ${noun}`);
}

/** Rejects fields that only the engine sets. @throws {RatebookError} ERR_INPUT_INVALID */
export function requireUserFields(input: unknown, engineFields: readonly string[]): Body {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw invalidInputError("$", "NOT_ACCEPTED", "expected an object");
  }
  const engineField = engineFields.find((name) => Object.hasOwn(input, name) && Reflect.get(input, name) !== undefined);
  if (engineField !== undefined) throw invalidInputError(engineField, "UNEXPECTED_FIELD", "here; remove it");
  return input as Body;
}

/** A document with a lifecycle. */
interface DocumentWithStatus extends DocumentRecord {
  readonly body: Body & { readonly name: string; readonly status: string };
}

/** Checks that a status change is allowed. @throws {RatebookError} ERR_REFUSED */
export function checkTransition<To extends string>(
  { body: { name, status } }: DocumentWithStatus,
  { noun, rule }: KindWords,
  transitions: Readonly<Record<To, readonly string[]>>,
  to: To,
): void {
  if (transitions[to].includes(status)) return;
  throw refusedError(
    rule,
    `the ${noun} ${quoteText(name)} is ${describeStatus(status)}; it must be ${transitions[to].map(describeStatus).join(" or ")} to become ${to.toLowerCase()}`,
  );
}

/** Changes the status of a document. @throws {RatebookError} ERR_REFUSED if not allowed */
export function changeStatus<To extends string>(
  document: DocumentWithStatus,
  words: KindWords,
  transitions: Readonly<Record<To, readonly string[]>>,
  to: To,
  now: Instant,
): DocumentRecord {
  checkTransition(document, words, transitions, to);
  return patchDocument(document, { status: to }, now);
}

function identity<Document>(document: Document): Document {
  return document;
}

/** The documents of one kind. */
export function documentsOfKind<Kind extends ConfiguredKind>(
  kind: Kind,
  documents: DocumentLists,
): readonly DocumentOf<Kind>[] {
  return documents[kind];
}

/** A document that was checked with the book, typed. */
export function toConfiguredDocument(kind: ConfiguredKind, document: DocumentRecord): ConfiguredDocument {
  return toTypedDocument(kind, document) as ConfiguredDocument;
}

function toStored<Kind extends ConfiguredKind>(
  kind: Kind,
  id: string,
  documents: ConfiguredDocuments,
  { catalog }: Pick<Configuration, "catalog">,
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
