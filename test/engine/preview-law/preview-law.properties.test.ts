import { memoryStore } from "../../../src/store/memory/memory.ts";
import { testPreviewLaw } from "./law-tests.ts";

testPreviewLaw("memory", async () => memoryStore(), { events: 40, invoices: 40, long: 20 });
