/** A client with very many idle connections. `many-connections.program.js PORT COUNT` */
import { connect, type Socket } from "node:net";

const [port = "0", count = "0"] = process.argv.slice(2);
const AT_ONCE = 200;

const sockets: Socket[] = [];
let failures = 0;

async function openConnection(): Promise<void> {
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => resolve());
    // The server disconnects idle connections.
    socket.on("error", () => {
      failures += 1;
      resolve();
    });
    sockets.push(socket);
  });
}

async function openInTurn(): Promise<void> {
  while (sockets.length < Number(count)) await openConnection();
}

await Promise.all(Array.from({ length: AT_ONCE }, openInTurn));
const living = sockets.filter((socket) => socket.readyState === "open").length;
process.stdout.write(`${JSON.stringify({ open: living, failed: failures })}\n`);
process.stdin.once("data", () => {
  // Closed with a reset, because an orderly close keeps their ports in use for a minute.
  for (const socket of sockets) socket.resetAndDestroy();
  setImmediate(() => process.exit());
});
