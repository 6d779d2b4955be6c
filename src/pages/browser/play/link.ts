/** The playground's state in the page's URL, so that links contain all of it. */
import { valueAt } from "../../../book/short/json-object.ts";
import { listAt, replaceValue, tryParseJson } from "../../play/book-edits.ts";
import { type PlayState, parseState, serializeState } from "../../play/play-state.ts";

const LINK_PREFIX = "#v1.";

/** The maximum URL length that every browser supports. */
const LINK_LENGTH_MAX = 1_000_000;

/** The maximum length of a decompressed state, because a short link can decompress to gigabytes. */
const STATE_LENGTH_MAX = 1 << 24;

/** The URL fragment of a state; undefined if it is too long or the browser can't compress. */
export async function createLink(state: PlayState): Promise<string | undefined> {
  if (typeof CompressionStream === "undefined") return undefined;
  const compressedStream = new Blob([serializeState(state)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(compressedStream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const link = `${LINK_PREFIX}${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  return link.length > LINK_LENGTH_MAX ? undefined : link;
}

/** Reads the state from a URL fragment: undefined if it is empty, `"broken"` if it is truncated or invalid. */
export async function readStateFromLink(hash: string): Promise<PlayState | "broken" | undefined> {
  if (hash.length <= 1) return undefined;
  if (!hash.startsWith(LINK_PREFIX)) return "broken";
  try {
    const binary = atob(hash.slice(LINK_PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const stateStream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const text = await readTextUpTo(stateStream.getReader(), STATE_LENGTH_MAX);
    const state = text === undefined ? undefined : parseState(text);
    return text === undefined || state === undefined ? "broken" : { ...state, book: withSeats(state.book, text) };
  } catch {
    return "broken";
  }
}

/** The book of a state with the license quantities that older links have beside it. */
function withSeats(book: string, state: string): string {
  const seats = listAt(tryParseJson(state), ["seats"]);
  const licenseUpdates = seats.map((seat) => ({
    licenseId: valueAt(seat, ["of"]),
    quantity: valueAt(seat, ["quantity"]),
    effectiveFrom: valueAt(seat, ["date"]),
  }));
  return seats.length === 0 ? book : replaceValue(book, ["accounts", 0, "licenseUpdates"], licenseUpdates);
}

/** The text of a stream; undefined if it is too long. */
async function readTextUpTo(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  lengthMax: number,
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += decoder.decode(part.value, { stream: true });
    if (text.length > lengthMax) {
      await reader.cancel();
      return undefined;
    }
  }
  return text + decoder.decode();
}
