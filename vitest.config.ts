import { defineConfig } from "vitest/config";

/** What starts processes and databases, is killed, or plays long sequences: each file in a process of its own. */
const whole = [
  "test/{crash,load,writers,model}/**/*.test.ts",
  "test/cli/{bin,load,serve}.test.ts",
  "test/clients/generated.test.ts",
  "test/engine/{databases,event-batches-in-databases}.properties.test.ts",
  "test/examples/llm-api.test.ts",
  "test/house/bench.test.ts",
  "test/server/{many-connections,quickstart}.test.ts",
  "test/store/{databases,faults,postgres,pglite}.test.ts",
];
/** What goes through HTTP. */
const api = ["test/{clients,contract,server}/**/*.test.ts"];
/** Laws whose every run is the story of an account, and examples played whole: each quick, but there are dozens. */
const stories = [
  "test/engine/{event-batches,metrics,model,revenue-calculator}.properties.test.ts",
  "test/examples/readme.test.ts",
  "test/invoicing/{advance,draw,timeline}.properties.test.ts",
  "test/ledger/{catch-up,ingest,ingest-undo,metering-run}.properties.test.ts",
];
/** Most of a file's time is reading what it imports: these files share two threads and what these have read. */
const shared = { pool: "threads", isolate: false, maxWorkers: 2 } as const;

// The zone is hostile on purpose: nothing in the core may depend on the machine's local time.
// It is set for this process, because a thread has the zone of its process, whatever its own environment says.
process.env["TZ"] = "America/New_York";

export default defineConfig({
  test: {
    setupFiles: ["test/setup/decimal-guard.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [...whole, ...api, ...stories],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { ...shared, name: "stories", include: stories, sequence: { groupOrder: 1 } } },
      { extends: true, test: { ...shared, name: "api", include: api, exclude: whole, sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: "whole", include: whole, pool: "forks", sequence: { groupOrder: 2 } } },
    ],
  },
});
