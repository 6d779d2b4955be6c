/** Finds the columns of an event file by which usage is priced: one of models and one of kinds. */
import { splitWords } from "../../event-files/guess-columns.ts";

const MODEL_WORDS = ["model", "modell", "modelo", "modele", "engine", "llm", "sku", "product", "produkt"];
const KIND_WORDS = ["kind", "type", "typ", "art", "tipo", "class", "category"];
/** The maximum number of texts of a column, and of rows of a price table. */
const GROUPS_MAX = 50;

/** Texts of dimensions, by name. */
export type Texts = Readonly<Record<string, unknown>>;

/** The groups of a price table. */
export interface PriceGroups {
  readonly dimensions: readonly [model: string, kind: string];
  /** Each group of the file; of many groups, only the models. */
  readonly whens: readonly Texts[];
}

/** @param names the dimensions @param rows their texts in each event */
export function findPriceGroups(names: readonly string[], rows: readonly Texts[]): PriceGroups | undefined {
  const listTexts = (dimensions: readonly string[]): readonly Texts[] => {
    const texts = rows.map((row) => JSON.stringify(dimensions.map((name) => [name, row[name]])));
    return [...new Set(texts)].map((text) => Object.fromEntries(JSON.parse(text) as [string, string][]));
  };
  const findColumn = (words: readonly string[], usedName?: string): string | undefined =>
    names.find(
      (name) =>
        name !== usedName &&
        splitWords(name).some((word) => words.includes(word)) &&
        rows.every(({ [name]: text }) => text !== "" && ["string", "number"].includes(typeof text)) &&
        listTexts([name]).length <= GROUPS_MAX,
    );
  const model = findColumn(MODEL_WORDS);
  const kind = findColumn(KIND_WORDS, model);
  if (model === undefined || kind === undefined) return undefined;
  const groups = listTexts([model, kind]);
  return { dimensions: [model, kind], whens: groups.length <= GROUPS_MAX ? groups : listTexts([model]) };
}
