/** The bytes of an event file: plain, gzip or standard input. Read once, in order. */
import { type FileHandle, open } from "node:fs/promises";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";

import { InputError } from "../../event-files/input-error.ts";
import { describeSystemError } from "../errors.ts";

export interface ByteSource {
  /** The size of the stored file in bytes, if known, to show progress. */
  readonly size: number | undefined;
  /** The bytes of the stored file read so far. */
  readonly position: number;
  /** The content. A chunk is valid until the next one, and not empty. Throws an InputError if reading fails. */
  readonly chunks: AsyncGenerator<Buffer, undefined>;
  close(): Promise<void>;
}

/** The size of the chunks of a file in bytes if it is not given. */
const CHUNK_BYTES = 1 << 16;

/**
 * Opens an event file. Gzip is detected by its first bytes; a name that ends with `.gz` requires it.
 *
 * @param path as given; `-` is standard input
 * @throws {InputError} if the file doesn't exist, is a directory or can't be opened
 */
export async function openByteSource(
  path: string,
  stdin: () => Readable,
  chunkBytes: number = CHUNK_BYTES,
): Promise<ByteSource> {
  if (path === "-") return createStreamSource("standard input", stdin());
  const handle = await open(path, "r").catch((error: unknown) => {
    throw new InputError(`${path}: ${describeSystemError(error)}`);
  });
  const stat = await handle.stat().catch(async (error: unknown) => {
    await handle.close();
    throw new InputError(`${path}: ${describeSystemError(error)}`);
  });
  if (stat.isDirectory()) {
    await handle.close();
    throw new InputError(`${path}: expected a file, got a directory`);
  }
  // A named pipe is read through the same handle; reopening it would lose data.
  if (!stat.isFile()) return createStreamSource(path, handle.createReadStream());
  return createSource(path, readFile(handle, chunkBytes), { size: stat.size, close: async () => handle.close() });
}

function createStreamSource(name: string, stream: Readable): ByteSource {
  return createSource(name, stream, { size: undefined, close: async () => void stream.destroy() });
}

function createSource(
  name: string,
  stored: AsyncIterable<Buffer | string>,
  { size, close }: Pick<ByteSource, "size" | "close">,
): ByteSource {
  let position = 0;
  async function* readStored(): AsyncGenerator<Buffer> {
    for await (const chunk of stored) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      position += bytes.length;
      if (bytes.length > 0) yield bytes;
    }
  }
  const chunks = readContent(name, readStored());
  return {
    size,
    get position() {
      return position;
    },
    chunks,
    async close() {
      await close();
      await chunks.return(undefined);
    },
  };
}

/** Reads a file into the same buffer again and again, because new ones for each chunk are slower. */
async function* readFile(handle: FileHandle, chunkBytes: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Decompresses gzip, including several concatenated members. */
async function* readContent(name: string, stored: AsyncGenerator<Buffer>): AsyncGenerator<Buffer, undefined> {
  try {
    const head = await readHead(stored);
    const isGzip = head[0] === 0x1f && head[1] === 0x8b;
    if (!isGzip) rejectOtherFormats(name, head);
    const all = prependChunk(head, stored);
    yield* isGzip ? pipeline(copyChunks(all), createGunzip({ chunkSize: 1 << 18 }), () => undefined) : all;
  } catch (error) {
    throw error instanceof InputError ? error : new InputError(`${name}: ${describeSystemError(error)}`);
  }
}

/** Rejects known binary formats by their first two bytes. @throws {InputError} */
function rejectOtherFormats(name: string, [first, second]: Uint8Array): void {
  if (name.endsWith(".gz") && first !== undefined)
    throw new InputError(`${name}: the file name ends in .gz, but the content is not gzip`);
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16) throw new InputError(`${name}: the file is UTF-16; save it as UTF-8`);
  // PK is the signature of zip archives, which spreadsheets are.
  if (first === 0x50 && second === 0x4b && /\.(?:xlsx|xlsm|ods|zip)$/i.test(name)) {
    throw new InputError(`${name}: the file is a spreadsheet or an archive; save the table as CSV`);
  }
}

/** Reads chunks until there are at least two bytes. */
async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 2) {
    const chunk = await chunks.next();
    if (chunk.done === true) return head;
    head = head.length === 0 ? chunk.value : Buffer.concat([head, chunk.value]);
  }
  return head;
}

/** The chunks after one that was read before. */
export async function* prependChunk(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  if (head.length > 0) yield head;
  yield* rest;
  return undefined;
}

/** The chunks, which stay valid. */
export async function* copyChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
  return undefined;
}
