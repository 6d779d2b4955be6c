/**
 * Numbers for the accounts of a memory store, so that its tables can be lists of numbers.
 *
 * @module
 */
import { accountIn, type EventBatch, sizeOf } from "../../ledger/events/event-batch.ts";

/** Numbers by text, from 0, in the order in which the texts came. */
export interface Numbering {
  /** The number of a text, which gets the next one if it has none. */
  of(text: string): number;
  /** The number of a text; -1 where it has none. */
  find(text: string): number;
  textOf(number: number): string;
  count(): number;
}

/** Nothing is numbered. */
export function createNumbering(): Numbering {
  const numbers = new Map<string, number>();
  const texts: string[] = [];
  return {
    of(text) {
      const known = numbers.get(text);
      if (known !== undefined) return known;
      numbers.set(text, texts.length);
      return texts.push(text) - 1;
    },
    find: (text) => numbers.get(text) ?? -1,
    textOf: (number) => texts[number] ?? "",
    count: () => texts.length,
  };
}

/** The numbers of the accounts of a batch's events, in their order. */
export function accountsOf(accounts: Numbering, batch: EventBatch): Int32Array {
  const places = new Int32Array(sizeOf(batch));
  for (let index = 0; index < places.length; index++) places[index] = accounts.of(accountIn(batch, index).id);
  return places;
}
