/**
 * Revisions of the configuration.
 *
 * @module
 */

/**
 * The revision of a changed configuration. It grows by a random step: a database that was restored and then changed in
 * another way has other revisions than those that a running process remembers.
 */
export function revisionAfter(revision: number): number {
  return revision + 1 + Math.floor(Math.random() * REVISION_STEP_MAX);
}

const REVISION_STEP_MAX = 2 ** 24;
