/**
 * Records of one kind in a working copy.
 *
 * @module
 */

/** Up to this many records are searched linearly; for more an index is built. */
const FEW = 16;

/** Records of one kind in a working copy: those read, and those written since. A batch creates thousands of instances. */
export class WorkingRecords<Item> {
  readonly #read: readonly Item[];
  readonly #idOf: (item: Item) => string;
  readonly #compare: ((a: Item, b: Item) => number) | undefined;
  readonly #changed: Item[] = [];
  /** The index of each changed record, by id; built once there are many. */
  #places: Map<string, number> | undefined;
  /** The read records by id; built on first use if there are many. */
  #readById: ReadonlyMap<string, Item> | undefined;
  #known: readonly Item[] | undefined;

  constructor(read: readonly Item[], idOf: (item: Item) => string, compare?: (a: Item, b: Item) => number) {
    this.#read = read;
    this.#idOf = idOf;
    this.#compare = compare;
  }

  /** In order. */
  all(): readonly Item[] {
    if (this.#known !== undefined) return this.#known;
    const all = this.#changed.length === 0 ? this.#read : mergeRecords(this.#read, this.#changed, this.#idOf);
    return (this.#known = this.#compare === undefined ? all : sortIfNeeded(all, this.#compare));
  }

  get(id: string): Item | undefined {
    return this.#changed[this.#placeOf(id)] ?? this.#readOf(id);
  }

  put(item: Item): void {
    const id = this.#idOf(item);
    const place = this.#placeOf(id);
    this.#changed[place] = item;
    this.#places?.set(id, place);
    this.#known = undefined;
  }

  /** The number of written records. */
  changed(): number {
    return this.#changed.length;
  }

  addTo(changed: Item[]): void {
    for (const item of this.#changed) changed.push(item);
  }

  #readOf(id: string): Item | undefined {
    if (this.#read.length <= FEW) return this.#read.find((item) => this.#idOf(item) === id);
    // If two records have the same id, the first is used, as in a linear search.
    this.#readById ??= new Map(this.#read.map((item) => [this.#idOf(item), item] as const).toReversed());
    return this.#readById.get(id);
  }

  /** The index of the record with an id, or the index at which to insert it. */
  #placeOf(id: string): number {
    const changed = this.#changed;
    if (changed.length > FEW) {
      this.#places ??= new Map(changed.map((item, place) => [this.#idOf(item), place]));
      return this.#places.get(id) ?? changed.length;
    }
    for (let place = 0; place < changed.length; place++) {
      const item = changed[place];
      if (item !== undefined && this.#idOf(item) === id) return place;
    }
    return changed.length;
  }
}

/** The read records with replacements applied, and new ones. */
function mergeRecords<Item>(
  read: readonly Item[],
  changed: readonly Item[],
  idOf: (item: Item) => string,
): readonly Item[] {
  const added = new Map(changed.map((item) => [idOf(item), item]));
  const replaced = read.map((item) => {
    const id = idOf(item);
    const put = added.get(id);
    added.delete(id);
    return put ?? item;
  });
  return added.size === 0 ? replaced : [...replaced, ...added.values()];
}

/** Sorts only if needed: records are mostly in order already. */
function sortIfNeeded<Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): readonly Item[] {
  const isOrdered = items.every((item, index) => {
    const before = items[index - 1];
    return before === undefined || compare(before, item) <= 0;
  });
  return isOrdered ? items : items.toSorted(compare);
}
