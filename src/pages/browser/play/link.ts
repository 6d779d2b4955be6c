/**
 * The state of the playground in the address of the page, so that a link holds it all.
 *
 * @module
 */
import { type PlayState, parseState, serializeState } from "../../play/play-state.ts";

const LINK_PREFIX = "#v1.";

/** So many characters of an address every browser keeps. */
const LINK_LENGTH_MAX = 1_000_000;

/** So much a state may be when it is unpacked, in characters: a short link can hold gigabytes of one letter. */
const STATE_LENGTH_MAX = 1 << 24;

/** The part of an address that holds a state; undefined where it is too long for an address, or the browser packs nothing. */
export async function createLink(state: PlayState): Promise<string | undefined> {
  if (typeof CompressionStream === "undefined") return undefined;
  const packedStream = new Blob([serializeState(state)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(packedStream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const link = `${LINK_PREFIX}${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  return link.length > LINK_LENGTH_MAX ? undefined : link;
}

/** The state in an address: none where it holds nothing, `"broken"` where it was cut or is none of ours. */
export async function readStateFromLink(hash: string): Promise<PlayState | "broken" | undefined> {
  if (hash.length <= 1) return undefined;
  if (!hash.startsWith(LINK_PREFIX)) return "broken";
  try {
    const binary = atob(hash.slice(LINK_PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (sign) => sign.charCodeAt(0));
    const stateStream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const text = await readTextUpTo(stateStream.getReader(), STATE_LENGTH_MAX);
    return (text === undefined ? undefined : parseState(text)) ?? "broken";
  } catch {
    return "broken";
  }
}

/** The text of a stream; undefined where it is longer. */
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
