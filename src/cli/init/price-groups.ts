/** Finds the columns of an event file by which usage is priced: one of models and one of kinds. */
import { isIdName, splitWords } from "../../event-files/column-words.ts";

const MODEL_WORDS = ["model", "modell", "modelo", "modele", "engine", "llm", "sku", "meter", "product", "produkt"];
const KIND_WORDS = ["kind", "unit", "type", "typ", "art", "tipo", "class", "category"];
/** The maximum number of texts of a column, and of rows of a price table. */
const GROUPS_MAX = 50;

/** Texts of dimensions, by name. */
export type Texts = Readonly<Record<string, unknown>>;

/** The groups of a price table. */
export interface PriceGroups {
  /** The column of models, and that of kinds if there is one. */
  readonly dimensions: readonly string[];
  /** Each group of the file; of many groups, only the models. */
  readonly whens: readonly Texts[];
}

/**
 * @param names the dimensions
 * @param rows their texts in each event
 * @param hasKinds whether the kinds are columns of their own, such as tokens of prompts and of answers
 */
export function findPriceGroups(
  names: readonly string[],
  rows: readonly Texts[],
  hasKinds = false,
): PriceGroups | undefined {
  const listTexts = (dimensions: readonly string[]): readonly Texts[] => {
    const texts = rows.map((row) => JSON.stringify(dimensions.map((name) => [name, row[name]])));
    return [...new Set(texts)].map((text) => Object.fromEntries(JSON.parse(text) as [string, string][]));
  };
  const isUsable = (name: string): boolean =>
    rows.every(({ [name]: text }) => text !== "" && ["string", "number"].includes(typeof text)) &&
    listTexts([name]).length <= GROUPS_MAX;
  const rank = (name: string): number =>
    (rows.every((row) => row[name] === rows[0]?.[name]) ? 2 : 0) + Number(isIdName(name));
  const ranks = new Map(names.map((name) => [name, rank(name)]));
  const candidates = names.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  const findColumn = (words: readonly string[], usedName?: string): string | undefined =>
    words
      .flatMap((word) => candidates.filter((name) => name !== usedName && splitWords(name).includes(word)))
      .find((name) => !/pricing_?model/i.test(name) && isUsable(name));
  const model = findColumn(MODEL_WORDS);
  if (model === undefined) return undefined;
  const kind = hasKinds ? undefined : findColumn(KIND_WORDS, model);
  if (kind === undefined) return hasKinds ? { dimensions: [model], whens: listTexts([model]) } : undefined;
  const groups = listTexts([model, kind]);
  return { dimensions: [model, kind], whens: groups.length <= GROUPS_MAX ? groups : listTexts([model]) };
}
