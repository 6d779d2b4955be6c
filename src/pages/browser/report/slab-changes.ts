/**
 * The days on which a card's usage reached another slab.
 *
 * @module
 */

/** The days on which another slab was reached, with its description. */
export function findSlabChanges(slabs: readonly number[]): ReadonlyMap<number, string> {
  const changes = new Map<number, string>();
  for (const [day, slab] of slabs.entries()) {
    const before = slabs[day - 1] ?? 0;
    if (slab !== before && slab > 0 && (before > 0 || slab > 1)) changes.set(day, `slab ${slab}`);
  }
  return changes;
}
