/** Events as an engine reads them before a decision. */
import { type BatchEvent, readEnvelope } from "../../src/metering/event-envelope.ts";

/** Reads the envelopes of a batch. */
export function readBatch(inputs: readonly unknown[]): readonly BatchEvent[] {
  return inputs.map((event): BatchEvent => {
    const read = readEnvelope(event);
    return "code" in read ? { problem: read } : read;
  });
}
