/**
 * Answers that are made of stored events.
 *
 * @module
 */
import { formatInstant } from "../../calendar/instant.ts";
import type { Engine } from "../../engine/engine.ts";
import { type Answer, answerOk } from "./endpoint.ts";

/** An answer made of stored events; where a server does not keep all of them for good, the header says since when it does. */
export async function withRetentionHeader({ events }: Pick<Engine, "events">, body: unknown): Promise<Answer> {
  const retainedSince = await events.keptSince();
  return {
    ...answerOk(body),
    ...(retainedSince === undefined ? {} : { headers: { "events-kept-since": formatInstant(retainedSince) } }),
  };
}
