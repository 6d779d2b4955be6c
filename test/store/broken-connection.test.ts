/** A server that closes a connection in the same packet in which it accepts it, like one that is shutting down. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

import { expect, test } from "vitest";

import { openDatabase } from "../../src/store/open-database.ts";

/** A message of the protocol: its type, its length, its content. */
function message(type: string, content: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + Buffer.byteLength(content));
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content)]);
}

const WELCOME = [message("R", "\0\0\0\0"), message("Z", "I")];
const GOODBYE = message("E", "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0");

test("a connection that closes as soon as it is acquired makes the store unavailable, and does not crash the process", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => void socket.end(Buffer.concat([...WELCOME, GOODBYE])));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const opening = openDatabase(`postgres://someone@127.0.0.1:${port}/somewhere`);
  await expect(opening).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
  server.close();
});
