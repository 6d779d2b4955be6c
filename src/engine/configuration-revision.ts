/**
 * Revisions of the configuration.
 *
 * @module
 */

/**
 * The revision of a changed configuration. It grows by a random step, so that a database that was restored and then
 * changed differently gets other revisions than those that a running process has cached.
 */
export function revisionAfter(revision: number): number {
  return revision + 1 + Math.floor(Math.random() * REVISION_STEP_MAX);
}

const REVISION_STEP_MAX = 2 ** 24;
