/**
 * Answers from stored events.
 *
 * @module
 */
import { formatInstant } from "../../calendar/instant.ts";
import type { Engine } from "../../engine/engine.ts";
import { type Answer, answerOk } from "./endpoint.ts";

/** An answer from stored events. If the server deletes old events, a header states since when they are complete. */
export async function withRetentionHeader({ events }: Pick<Engine, "events">, body: unknown): Promise<Answer> {
  const retainedSince = await events.keptSince();
  return {
    ...answerOk(body),
    ...(retainedSince === undefined ? {} : { headers: { "events-kept-since": formatInstant(retainedSince) } }),
  };
}
