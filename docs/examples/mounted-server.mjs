import Fastify from "fastify";

import { createEngine, memoryStore } from "ratebook";
import { manageApiKeys, billingApi } from "ratebook/server";

const engine = createEngine({ store: memoryStore() });

const host = Fastify({ routerOptions: { maxParamLength: 5000 } });
host.get("/", async () => ({ shop: "open" }));
await host.register(billingApi, { prefix: "/billing", engine });

// The API does not close the engine, and does no bill runs by itself.
const billRuns = setInterval(() => engine.finalize().catch((error) => host.log.error(error)), 600_000);
host.addHook("onClose", async () => {
  clearInterval(billRuns);
  await engine.close();
});

const first = await manageApiKeys(engine).createFirst();
const url = await host.listen({ port: 0 });

const answer = await fetch(`${url}/billing/customers`, { headers: { authorization: `Bearer ${first.key}` } });
console.log(answer.status, await answer.text());
console.log(await (await fetch(url)).text());
await host.close();
