/** The bytes of an event file: plain, gzip or standard input. Read once, in order. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

import { InputError } from "../../event-files/input-error.ts";
import { describeSystemError } from "../errors.ts";

export interface ByteSource {
  /** The size of the stored file in bytes, if known, to show progress. */
  readonly size: number | undefined;
  /** The bytes of the stored file read so far. */
  readonly position: number;
  /**
   * Reads at least one byte into `target[from, target.length)`.
   *
   * @returns the number of bytes; 0 at the end of the file
   * @throws {InputError} if reading fails
   */
  readInto(target: Uint8Array, from: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * Opens an event file. Gzip is detected by its first bytes; a name that ends with `.gz` requires it.
 *
 * @param path as given; `-` is standard input
 * @throws {InputError} if the file doesn't exist, is a directory or can't be opened
 */
export async function openByteSource(path: string, stdin: () => Readable): Promise<ByteSource> {
  if (path === "-") return createStreamSource("standard input", stdin(), undefined);
  let handle;
  try {
    handle = await open(path, "r");
  } catch (error) {
    throw new InputError(`${path}: ${describeSystemError(error)}`);
  }
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) throw new InputError(`${path}: expected a file, got a directory`);
    if (!stat.isFile()) {
      // A named pipe is read through the same handle; reopening it would lose data.
      return await createStreamSource(path, handle.createReadStream({ highWaterMark: 1 << 20 }), undefined);
    }
    const magic = new Uint8Array(2);
    const { bytesRead } = await handle.read(magic, 0, 2, 0);
    const isGzip = bytesRead === 2 && magic[0] === 0x1f && magic[1] === 0x8b;
    if (!isGzip && path.endsWith(".gz") && stat.size > 0) {
      throw new InputError(`${path}: the file name ends in .gz, but the content is not gzip`);
    }
    rejectOtherFormats(path, magic);
    if (isGzip) {
      await handle.close();
      return await createStreamSource(path, createReadStream(path, { highWaterMark: 1 << 18 }), stat.size);
    }
    return createFileSource(path, handle, stat.size);
  } catch (error) {
    await handle.close().catch(() => undefined);
    throw error instanceof InputError ? error : new InputError(`${path}: ${describeSystemError(error)}`);
  }
}

/** Rejects known binary formats by their first two bytes. @throws {InputError} */
function rejectOtherFormats(name: string, [first, second]: Uint8Array): void {
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16) throw new InputError(`${name}: the file is UTF-16; save it as UTF-8`);
  // PK is the signature of zip archives, which spreadsheets are.
  if (first === 0x50 && second === 0x4b && /\.(?:xlsx|xlsm|ods|zip)$/i.test(name)) {
    throw new InputError(`${name}: the file is a spreadsheet or an archive; save the table as CSV`);
  }
}

function createFileSource(path: string, handle: Awaited<ReturnType<typeof open>>, size: number): ByteSource {
  let position = 0;
  return {
    size,
    get position() {
      return position;
    },
    async readInto(target, from) {
      try {
        const { bytesRead } = await handle.read(target, from, target.length - from, null);
        position += bytesRead;
        return bytesRead;
      } catch (error) {
        throw new InputError(`${path}: ${describeSystemError(error)}`);
      }
    },
    close: async () => handle.close(),
  };
}

/** A plain or gzip source, depending on the first two bytes. */
async function createStreamSource(name: string, stream: Readable, size: number | undefined): Promise<ByteSource> {
  let position = 0;
  async function* countBytes(): AsyncGenerator<Buffer> {
    for await (const chunk of stream as AsyncIterable<Buffer | string>) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      position += bytes.length;
      if (bytes.length > 0) yield bytes;
    }
  }
  const storedChunks = countBytes();
  let chunks: AsyncIterator<Buffer> = storedChunks;
  try {
    const head = await readHead(storedChunks);
    chunks = prependChunk(head, storedChunks);
    if (head.length >= 2 && head[0] === 0x1f && head[1] === 0x8b) chunks = gunzipChunks(chunks);
  } catch (error) {
    throw new InputError(`${name}: ${describeSystemError(error)}`);
  }
  let remainder: Buffer = Buffer.alloc(0);
  return {
    size,
    get position() {
      return position;
    },
    async readInto(target, from) {
      try {
        if (remainder.length === 0) {
          const chunk = await chunks.next();
          if (chunk.done === true) return 0;
          remainder = chunk.value;
        }
      } catch (error) {
        throw new InputError(`${name}: ${describeSystemError(error)}`);
      }
      const count = Math.min(remainder.length, target.length - from);
      target.set(remainder.subarray(0, count), from);
      remainder = remainder.subarray(count);
      return count;
    },
    async close() {
      stream.destroy();
      await chunks.return?.();
    },
  };
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

async function* prependChunk(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (let chunk = await rest.next(); chunk.done !== true; chunk = await rest.next()) yield chunk.value;
}

/** Decompresses gzip, including several concatenated members. */
async function* gunzipChunks(gzipChunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 1 << 18 });
  const feedDone = (async () => {
    try {
      for (let chunk = await gzipChunks.next(); chunk.done !== true; chunk = await gzipChunks.next()) {
        if (gunzip.destroyed) return;
        if (!gunzip.write(chunk.value)) {
          await new Promise<void>((resolve) => {
            gunzip.once("drain", resolve);
            gunzip.once("close", resolve);
          });
        }
      }
      gunzip.end();
    } catch (error) {
      gunzip.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  })();
  for await (const chunk of gunzip as AsyncIterable<Buffer>) yield chunk;
  await feedDone;
}
