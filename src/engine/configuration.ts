/** The configuration of an organization, compiled from its documents and cached until they change. */
import { readBookInSteps } from "../book/book.ts";
import type { RuleWorkLimits } from "../book/checks/check-metering.ts";
import { type BookCache, createBookCache } from "../book/reading/book-cache.ts";
import { LIST_NAMES } from "../book/reading/references.ts";
import type { Book } from "../book/resources/book.ts";
import type { PricePlanDetailsOverride } from "../book/resources/price-plan.ts";
import { formatDate, type Instant } from "../calendar/instant.ts";
import { hasCode, inputError, invariant, type Problem, RatebookError } from "../errors.ts";
import { type Catalog, type CatalogOptions, createCatalogInSteps, type DecisionOptions } from "../ledger/catalog.ts";
import type { DocumentRecord } from "../ledger/decision.ts";
import type { LedgerView } from "../ledger/view.ts";
import { type Steps, runToCompletion } from "../numbers/steps.ts";
import { quoteText, changeProblem } from "../problem-table.ts";
import { ruleLink } from "../rulebook.ts";
import { type RuleBudget, resolveRuleBudget } from "../rules/budget.ts";
import { compareOldest } from "../store/adapter-rules.ts";
import { runWithPauses, createYielder } from "../store/yielder.ts";
import {
  BOOK_LISTS,
  type Body,
  CONFIGURED_KINDS,
  type ConfiguredItem,
  type ConfiguredKind,
  isSameJson,
  toPlainJson,
  toTypedDocument,
  type DocumentLists,
  isActivePlan,
} from "./documents.ts";
import { readExternalSchemas, type ExternalSchemas } from "./external-usage.ts";

/** Documents of each kind, oldest first, as in the lists of a book; some may be unchecked. */
export type UncheckedDocuments = Readonly<Record<ConfiguredKind, readonly DocumentRecord[]>> & {
  /** Empty while the organization is the default one. */
  readonly organization: readonly DocumentRecord[];
};
/** The stored documents of each kind, oldest first, each checked when read. */
export type ConfiguredDocuments = DocumentLists & Pick<UncheckedDocuments, "organization">;

/** A compiled configuration with its documents. */
export interface Configuration {
  /** The store's revision of the documents. */
  readonly revision: number;
  readonly documents: ConfiguredDocuments;
  readonly catalog: Catalog;
  /** Reuses what was parsed and checked of unchanged documents. */
  readonly bookCache: BookCache;
}

/** The compiled configuration. */
export interface ConfigurationSource {
  /** The configuration of a view; recompiled only if its revision changed. */
  (view: LedgerView): Promise<Configuration>;
  /** The last compiled one. It may be out of date, and is only used to find what to lock. */
  last(): Configuration | undefined;
  /** Caches a configuration that this engine has committed. */
  adopt(configuration: Configuration): void;
}

/** Creates a cache of the last compiled configuration. */
export function createConfigurationSource(
  options: CatalogOptions,
  { external, resumeIngest }: ExternalSchemas,
  bookCache: BookCache = createBookCache(),
): ConfigurationSource {
  let current: Configuration | undefined;
  /**
   * A compilation in progress, shared by all readers of the same revision. It reads nothing, because a waiting caller
   * may hold the only connection.
   */
  let runningCompilation: { readonly revision: number; readonly configuration: Promise<Configuration> } | undefined;
  const adopt = (configuration: Configuration): void => {
    current = configuration;
  };
  const compileConfiguration = async (
    revision: number,
    documents: ConfiguredDocuments,
    externalSchemas: readonly string[],
  ): Promise<Configuration> => {
    const before = { bookCache, catalog: current?.catalog };
    const catalog = await runWithPauses(compileCatalog(documents, before, { ...options, externalSchemas }));
    const configuration = { revision, documents, catalog, bookCache };
    adopt(configuration);
    return configuration;
  };
  const source = async (view: LedgerView): Promise<Configuration> => {
    for (;;) {
      const revision = await view.configurationRevision();
      if (current?.revision === revision) return current;
      const documents = await readDocuments(view, current?.documents);
      const recordedSchemas = await readExternalSchemas(view);
      // Outside of a transaction a change may come between the reads: then the documents belong to no revision.
      if ((await view.configurationRevision()) !== revision) continue;
      if (current?.revision === revision) return current;
      const stillExternal = recordedSchemas.filter((name) => !resumeIngest.includes(name));
      const externalSchemas = [...new Set([...external, ...stillExternal])];
      if (runningCompilation?.revision !== revision) {
        runningCompilation = { revision, configuration: compileConfiguration(revision, documents, externalSchemas) };
      }
      const compilation = runningCompilation;
      try {
        return await compilation.configuration;
      } finally {
        if (runningCompilation === compilation) runningCompilation = undefined;
      }
    }
  };
  return Object.assign(source, { last: () => current, adopt });
}

/** Compiles documents that were checked when they were stored. */
export function* compileCatalog(
  documents: ConfiguredDocuments,
  before: { readonly bookCache: BookCache; readonly catalog: Catalog | undefined },
  options: DecisionOptions,
): Steps<Catalog> {
  return yield* createCatalogInSteps(yield* readBookOfDocuments(documents, before.bookCache), options, before.catalog);
}

/** Documents with a change, all of them checked or not. */
export function withDocuments<Documents extends UncheckedDocuments>(
  documents: Documents,
  changed: readonly Documents[ConfiguredKind][number][],
): Documents {
  const next: Record<string, readonly DocumentRecord[]> = { ...documents };
  for (const document of changed) {
    const list = next[document.kind];
    if (list === undefined) continue;
    const exists = list.some(({ id }) => id === document.id);
    next[document.kind] = exists
      ? list.map((each) => (each.id === document.id ? document : each))
      : [...list, document].sort(compareOldest);
  }
  return next as unknown as Documents;
}

/**
 * Reads the book of documents with changes: changed documents are checked with all that depends on them, and their
 * rules must fit the budget (S3.8).
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with the problems of the last changed document, ERR_REFUSED if only others
 * would break
 */
export function* readChangedBook(
  documents: UncheckedDocuments,
  changed: readonly DocumentRecord[],
  { catalog, bookCache }: Pick<Configuration, "catalog" | "bookCache">,
): Steps<Book> {
  try {
    return yield* readBookOfDocuments(documents, bookCache, new Set(changed), catalog.options.ruleBudget);
  } catch (error) {
    if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
    throw toProblemError(error.details.problems, documents, changed.at(-1), error);
  }
}

/** An association of a plan with an account that overrides parts of the plan. */
interface OverrideRequest {
  readonly pricePlanId: string;
  readonly version: number;
  readonly effectiveFrom: Instant;
  readonly invoiceCurrency: string;
  /** As sent. */
  readonly override: unknown;
}

/**
 * Parses the override of an association, and checks it with the plan (S16.2).
 *
 * @throws {RatebookError} ERR_INPUT_INVALID with all problems
 */
export function readOverride(
  { documents, bookCache }: Pick<Configuration, "documents" | "bookCache">,
  request: OverrideRequest,
): PricePlanDetailsOverride {
  const { pricePlanId, version, effectiveFrom, invoiceCurrency, override } = request;
  const association = { pricePlanId, version, effectiveFrom: formatDate(effectiveFrom) };
  const pricePlans = [{ ...association, pricePlanDetailsOverride: toPlainJson(override) }];
  const raw = toRawBook(documents, bookCache);
  const ids = { id: PLACEHOLDER_ID, customerId: PLACEHOLDER_ID };
  const account = { ...ids, name: "Account of the request", invoiceCurrency, pricePlans };
  const customers = [
    { id: PLACEHOLDER_ID, name: "Customer of the request" },
    ...raw.customers.filter(({ id }) => id !== PLACEHOLDER_ID),
  ];
  try {
    const input = { ...raw, customers, accounts: [account, ...raw.accounts] };
    const book = runToCompletion(readBookInSteps(input, changedRulesWork(documents, new Set()), bookCache));
    const parsedOverride = book.accounts[0]?.pricePlans[0]?.pricePlanDetailsOverride ?? undefined;
    invariant(parsedOverride !== undefined, "S16.2: the override of a request is in the book that was read");
    return parsedOverride;
  } catch (error) {
    if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
    throw toDocumentError(error.details.problems, "$.accounts[0].pricePlans[0]", error) ?? error;
  }
}

/** The item of a document in a book that was read from these documents. */
export function findItem<Kind extends ConfiguredKind>(
  kind: Kind,
  id: string,
  documents: UncheckedDocuments,
  book: Book,
): ConfiguredItem<Kind> | undefined {
  const place = documents[kind].findIndex((document) => document.id === id);
  return book[BOOK_LISTS[kind]][place];
}

/** Reads all documents. Unchanged ones are the same objects as before, so that cached results for them stay valid. */
async function readDocuments(view: LedgerView, before?: ConfiguredDocuments): Promise<ConfiguredDocuments> {
  const yieldToOthers = createYielder();
  const documents: Record<string, readonly DocumentRecord[]> = {};
  documents["organization"] = await view.allDocuments("organization");
  for (const kind of CONFIGURED_KINDS) {
    const list: readonly DocumentRecord[] = before?.[kind] ?? [];
    const documentsById = new Map(list.map((document) => [document.id, document]));
    const typedDocuments: DocumentRecord[] = [];
    for (const record of await view.allDocuments(kind)) {
      const document = toTypedDocument(kind, record);
      const same = documentsById.get(document.id);
      typedDocuments.push(same !== undefined && isSameJson(same, document) ? same : document);
      await yieldToOthers();
    }
    documents[kind] = typedDocuments;
  }
  return documents as unknown as ConfiguredDocuments;
}

/**
 * Reads the book that documents form. It has no accounts; the ledger's are used.
 *
 * @param changed ACTIVE plans among these must be usable; unchanged ones may use meters that are no longer ACTIVE
 */
function* readBookOfDocuments(
  documents: UncheckedDocuments,
  bookCache: BookCache,
  changed: ReadonlySet<DocumentRecord> = new Set(),
  ruleBudget?: RuleBudget,
): Steps<Book> {
  const raw = toRawBook(documents, bookCache, changed);
  const book = yield* readBookInSteps(raw, changedRulesWork(documents, changed, ruleBudget), bookCache);
  const pricePlans = book.pricePlans.map((plan, place) => {
    const document = documents.pricePlan[place];
    if (plan.status === "ACTIVE" || document === undefined || !isActivePlan(document)) return plan;
    const run = (): typeof plan => ({ ...plan, status: "ACTIVE" });
    return bookCache.runOrReuse({ work: "arrange", item: plan, report: () => undefined, run });
  });
  return { ...book, pricePlans, customers: [], accounts: [] };
}

/** Only changed rules must fit the budget: older ones that exceed it fail event by event. */
function changedRulesWork(
  documents: UncheckedDocuments,
  changed: ReadonlySet<DocumentRecord>,
  ruleBudget?: RuleBudget,
): RuleWorkLimits {
  const lists = { settings: documents.setting, eventSchemas: documents.eventSchema, usageMeters: documents.usageMeter };
  return {
    budget: resolveRuleBudget(ruleBudget),
    isChecked: (list, at) => {
      const document = lists[list][at];
      return document !== undefined && changed.has(document);
    },
  };
}

/** The documents as a book, without customers and accounts. */
export function toBookInput(documents: UncheckedDocuments): Readonly<Record<string, unknown>> {
  const [organization] = documents.organization;
  return {
    ...(organization === undefined ? {} : { organization: organization.body }),
    ...Object.fromEntries(CONFIGURED_KINDS.map((kind) => [BOOK_LISTS[kind], documents[kind].map(({ body }) => body)])),
    pricePlans: documents.pricePlan.map(planBody),
  };
}

/** The body of a plan without the fields for its activation and the activation date. */
function planBody({
  body: { mode: _mode, versionsToMigrate: _versions, activatedAt: _at, ...plan },
}: DocumentRecord): Body {
  return plan;
}

/** The documents as a book to read: unchanged ACTIVE plans as drafts, and with the owners of settings. */
function toRawBook(
  documents: UncheckedDocuments,
  bookCache: BookCache,
  changed: ReadonlySet<DocumentRecord> = new Set(),
): RawBook {
  const toRawPlan = (document: DocumentRecord): Body => {
    const isUnchangedActive = isActivePlan(document) && !changed.has(document);
    const run = (): Body => ({ ...planBody(document), ...(isUnchangedActive && { status: "DRAFT" }) });
    const dependsOn = [isUnchangedActive];
    return bookCache.runOrReuse({ work: "arrange", item: document, dependsOn, report: () => undefined, run });
  };
  return {
    ...toBookInput(documents),
    pricePlans: documents.pricePlan.map(toRawPlan),
    ...settingOwners(documents.setting),
  };
}

/** A book, as far as its structure is known here. */
type RawBook = Readonly<Record<"customers" | "accounts", readonly { readonly id: string }[]>> &
  Readonly<Record<string, unknown>>;

/** Customers and accounts referenced by settings, added for reading the book; an earlier check made sure that they exist. */
function settingOwners(settings: readonly DocumentRecord[]): RawBook {
  const ownerIds = (entityType: string): readonly string[] => {
    const own = settings.filter(({ body }) => body["entityType"] === entityType);
    return [...new Set(own.map(({ body }) => String(body["entityId"])))];
  };
  const accounts = ownerIds("ACCOUNT");
  const customers = new Set([...ownerIds("CUSTOMER"), ...(accounts.length > 0 ? [PLACEHOLDER_ID] : [])]);
  return {
    customers: [...customers].map((id) => ({ id, name: `Customer ${id}` })),
    accounts: accounts.map((id) => ({ id, name: `Account ${id}`, customerId: PLACEHOLDER_ID })),
  };
}

const PLACEHOLDER_ID = "-";

function toProblemError(
  problems: readonly Problem[],
  documents: UncheckedDocuments,
  changed: DocumentRecord | undefined,
  cause: unknown,
): RatebookError<"ERR_INPUT_INVALID" | "ERR_REFUSED"> {
  const kind = CONFIGURED_KINDS.find((each) => each === changed?.kind);
  const place = kind === undefined ? -1 : documents[kind].findIndex(({ id }) => id === changed?.id);
  const documentError = kind && toDocumentError(problems, `$.${BOOK_LISTS[kind]}[${place}]`, cause);
  if (documentError !== undefined) return documentError;
  const [other] = problems;
  const sentence = `the change is invalid for ${other === undefined ? "the book" : describeBrokenResource(other, documents)}`;
  return new RatebookError("ERR_REFUSED", sentence, { rule: ruleLink("S4") }, { cause });
}

/** A problem of a book with the resource's name instead of its path: `the usage meter "um.1": name: …`. */
function describeBrokenResource({ path, message }: Problem, documents: UncheckedDocuments): string {
  const [, list = "", place = "", rest = ""] = /^\$\.(\w+)\[(\d+)\]\.?(.*)$/s.exec(path) ?? [];
  const kind = CONFIGURED_KINDS.find((each) => BOOK_LISTS[each] === list);
  const document = kind === undefined ? undefined : documents[kind][Number(place)];
  if (kind === undefined || document === undefined) return `${path}: ${message}`;
  const subject = `the ${LIST_NAMES[BOOK_LISTS[kind]]} ${quoteText(document.id)}`;
  return [subject, ...(rest === "" ? [] : [rest]), message].join(": ");
}

/** An error with the problems of a resource, and paths relative to it; undefined if there are none. */
function toDocumentError(
  problems: readonly Problem[],
  place: string,
  cause: unknown,
): RatebookError<"ERR_INPUT_INVALID"> | undefined {
  const documentProblems = problems.flatMap((problem) => {
    if (problem.path !== place && !problem.path.startsWith(`${place}.`)) return [];
    // A problem may refer to another field of the same resource, such as `attributes[0]`.
    const { other } = problem.params;
    const params = typeof other === "string" ? { other: other.replace(`${place}.`, "") } : {};
    return [changeProblem(problem, { path: `$${problem.path.slice(place.length)}`, params })];
  });
  const [first, ...others] = documentProblems;
  return first === undefined ? undefined : inputError([first, ...others], { cause });
}
