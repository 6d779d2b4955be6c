import { defineConfig } from "vitest/config";

// The zone is hostile on purpose: nothing in the core may depend on the machine's local time.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/setup/decimal-guard.ts"],
    env: { TZ: "America/New_York" },
    testTimeout: 60_000,
  },
});
