/** Random choices that are the same on every run: the conformance suite must work without fast-check. */
import { inspect } from "node:util";

import type { Store } from "../store.ts";

export interface Random {
  /** A whole number, 0 or more and below the limit. */
  below(limit: number): number;
  /** True once in so many times. */
  isOneIn(count: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Some of the items, in their order. */
  some<Item>(items: readonly Item[]): Item[];
  /** An object with some of the fields, each one in so many times. */
  fields<Fields extends object>(fields: Fields, oneIn?: number): Partial<Fields>;
}

/** Creates random choices that follow from a seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  const some = <Item>(items: readonly Item[]): Item[] => items.filter(() => below(2) === 0);
  return {
    below,
    isOneIn: (count) => below(count) === 0,
    pick: <Item>(items: readonly Item[]) => items[below(items.length)] as Item,
    some,
    fields: <Fields extends object>(fields: Fields, oneIn = 2) =>
      Object.fromEntries(Object.entries(fields).filter(() => below(oneIn) === 0)) as Partial<Fields>,
  };
}

/** A commit or a read. */
export interface Step {
  /** What it does, for messages. */
  readonly describe: () => string;
  /** Returns what must be equal in all stores. */
  readonly run: (store: Store) => Promise<unknown>;
  /** The same step, each time without one of its records. */
  readonly smaller: () => readonly Step[];
}

/** A value as one text, for messages. */
export function print(value: unknown): string {
  return inspect(value, { depth: null, breakLength: 120, maxArrayLength: null, maxStringLength: 100 });
}
