/** Finds references between resources that name nothing. */
import { guessName, type Path, type Report, quoteValue } from "../problems.ts";
import type { ResourceList } from "../resources/book.ts";
import { SETTING_NAMESPACE, settingKey } from "../resources/catalog-items.ts";
/** The items of each list, as messages name them. */
export const LIST_NAMES: Readonly<Record<ResourceList, string>> = {
  settings: "setting",
  eventSchemas: "event schema",
  usageMeters: "usage meter",
  features: "feature",
  addOns: "add-on",
  pricePlans: "price plan",
  customers: "customer",
  accounts: "account",
  invoiceGroups: "invoice group",
};

/** Maximum number of unresolved references with a suggestion. */
const GUESSES_MAX = 50;

/** A list that can be referred to. */
export type ReferableList = Exclude<ResourceList, "settings" | "invoiceGroups">;

/** The ids of the items with a name: nearly always a single one, which needs no set. */
type Names = Map<string, string | Set<string>>;

/** The ids of one list, and its ids by name. */
interface IndexedList {
  readonly ids: Set<string>;
  readonly byName: Names;
  readonly byArchivedName: Names;
  /** An item in the list could not be read, and may be the target of a reference. */
  hasUnreadableItem: boolean;
}

/** Everything in a book that can be referred to. */
export interface References {
  readonly lists: Readonly<Record<ReferableList, IndexedList>>;
  /** The keys that a dependency may refer to with a full key or a bare id, both in lower case (S4.2). */
  readonly settings: ReadonlyMap<string, string | ReadonlySet<string>>;
  /** The number of further references that get a suggestion: a broken book may have a million. */
  readonly guesses: { remaining: number };
}

/** The context for resolving: the book's references, and the report. */
export interface ResolveContext {
  readonly references: References;
  readonly report: Report;
  /** Records every lookup; absent without a cache. */
  readonly lookups?: Lookup[];
}

/** Repeats a lookup and returns whether the result is unchanged. */
export type Lookup = (otherContext: ResolveContext) => boolean;

/** Whether all lookups have the same results with other references. */
export function areSameReferences(lookups: readonly Lookup[], references: References): boolean {
  let hasProblem = false;
  const otherContext: ResolveContext = {
    references: { ...references, guesses: { remaining: 0 } },
    report: () => {
      hasProblem = true;
    },
  };
  return lookups.every((lookup) => lookup(otherContext) && !hasProblem);
}

/** The lists of a document, valid or not. */
export type RawLists = Readonly<Partial<Record<ResourceList, unknown>>>;

/** Indexes a document, valid or not: an invalid item can still be referred to. */
export function indexReferences(raw: RawLists): References {
  return {
    lists: {
      eventSchemas: indexList(raw.eventSchemas, "name"),
      usageMeters: indexList(raw.usageMeters, "id"),
      features: indexList(raw.features, "id"),
      addOns: indexList(raw.addOns, "id"),
      pricePlans: indexList(raw.pricePlans, "id"),
      customers: indexList(raw.customers, "id"),
      accounts: indexList(raw.accounts, "id"),
    },
    settings: indexSettings(raw.settings),
    guesses: { remaining: GUESSES_MAX },
  };
}

/** Resolves a reference to an item of one list; see {@link resolveIdAmong}. */
export function resolveId(list: ReferableList, reference: string, path: () => Path, context: ResolveContext): string {
  // Most references are ids: create a path only for the others, because a book may have a million references.
  if (context.references.lists[list].ids.has(reference)) {
    context.lookups?.push(({ references: { lists } }) => lists[list].ids.has(reference));
    return reference;
  }
  return resolveIdAmong([list], reference, path(), context);
}

/** Resolves a reference: an id in any of the lists, else a name. An unknown reference is reported and returned unchanged. */
export function resolveIdAmong(
  lists: readonly ReferableList[],
  reference: string,
  path: Path,
  context: ResolveContext,
): string {
  return recordLookup(context, (each) => findIdAmong(lists, reference, path, each));
}

function recordLookup(context: ResolveContext, find: (context: ResolveContext) => string): string {
  const result = find(context);
  context.lookups?.push((otherContext) => find(otherContext) === result);
  return result;
}

function findIdAmong(lists: readonly ReferableList[], reference: string, path: Path, context: ResolveContext): string {
  const entries = lists.map((list) => context.references.lists[list]);
  if (entries.some(({ ids }) => ids.has(reference))) return reference;
  const unarchivedIds = entries.flatMap(({ byName }) => toIds(byName.get(reference)));
  const candidates =
    unarchivedIds.length > 0 ? unarchivedIds : entries.flatMap((list) => toIds(list.byArchivedName.get(reference)));
  const [first, ...others] = candidates;
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined) {
    if (entries.some(({ hasUnreadableItem }) => hasUnreadableItem)) return reference;
    const resources = lists.map((list) => LIST_NAMES[list]);
    const guess = suggestName(reference, entries, context.references);
    context.report(path, "UNKNOWN_REFERENCE", { resources, got: quoteValue(reference), ...guess });
  } else {
    context.report(path, "AMBIGUOUS_REFERENCE", { name: reference, candidates: candidates.slice(0, 3) });
  }
  return reference;
}

function suggestName(
  reference: string,
  entries: readonly IndexedList[],
  { guesses }: References,
): { readonly guess?: string } {
  if (guesses.remaining === 0) return {};
  guesses.remaining--;
  return guessName(
    reference,
    entries.flatMap(({ ids, byName }) => [...ids, ...byName.keys()]),
  );
}

/** The full key of a dependency's setting (S4.2); an unknown one is reported unless `mayBeMissing`. */
export function resolveSettingKey(
  reference: string,
  mayBeMissing: boolean,
  path: Path,
  context: ResolveContext,
): string {
  return recordLookup(context, (each) => findSettingKey(reference, mayBeMissing, path, each));
}

function findSettingKey(
  reference: string,
  mayBeMissing: boolean,
  path: Path,
  { references, report }: ResolveContext,
): string {
  const keys = toIds(references.settings.get(reference.toLowerCase()));
  const [first, ...others] = keys;
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined) {
    report(path, "AMBIGUOUS_REFERENCE", { name: reference, candidates: keys.slice(0, 3) });
  } else if (!mayBeMissing) {
    report(path, "UNKNOWN_REFERENCE", { resources: ["setting"], got: quoteValue(reference) });
  }
  return reference.toLowerCase();
}

function indexList(list: unknown, idField: "id" | "name"): IndexedList {
  const entries: IndexedList = {
    ids: new Set(),
    byName: new Map(),
    byArchivedName: new Map(),
    hasUnreadableItem: false,
  };
  if (list !== undefined && list !== null && !Array.isArray(list)) entries.hasUnreadableItem = true;
  for (const item of toItems(list)) {
    const itemId = readOwnText(item, idField);
    if (itemId === undefined) {
      entries.hasUnreadableItem = true;
      continue;
    }
    entries.ids.add(itemId);
    const itemName = readOwnText(item, "name");
    if (itemName === undefined) continue;
    addName(readOwnText(item, "status") === "ARCHIVED" ? entries.byArchivedName : entries.byName, itemName, itemId);
  }
  return entries;
}

function indexSettings(list: unknown): Names {
  const keys: Names = new Map();
  for (const item of toItems(list)) {
    const settingId = readOwnText(item, "id");
    if (settingId === undefined) continue;
    const key = settingKey({ namespace: readOwnText(item, "namespace") ?? SETTING_NAMESPACE, id: settingId });
    addName(keys, key, key);
    addName(keys, settingId.toLowerCase(), key);
  }
  return keys;
}

function addName(names: Names, name: string, id: string): void {
  const before = names.get(name);
  if (before === undefined) names.set(name, id);
  else if (typeof before !== "string") before.add(id);
  else if (before !== id) names.set(name, new Set([before, id]));
}

function toIds(entry: string | ReadonlySet<string> | undefined): readonly string[] {
  if (entry === undefined) return [];
  return typeof entry === "string" ? [entry] : [...entry];
}

function toItems(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}

function readOwnText(item: unknown, key: string): string | undefined {
  if (typeof item !== "object" || item === null || !Object.hasOwn(item, key)) return undefined;
  const value: unknown = Reflect.get(item, key);
  return typeof value === "string" ? value : undefined;
}
