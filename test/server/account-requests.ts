/** Setup of tests of accounts over HTTP. */
import { startApi, type TestApi } from "./support.ts";

/** The body of a customer with that id. */
export const ACME = { id: "acme", name: "Acme Corp", primaryEmail: "pay@acme.test" };

/** An address with every part. */
export const ADDRESS = {
  phoneNumber: "+49 30 1234",
  line1: "1 Main St",
  line2: "2nd floor",
  postalCode: "10115",
  city: "Berlin",
  state: "BE",
  country: "DE",
};

/** An API with a customer and its account `prod`, at noon of 15 June 2024. */
export async function withAccount(time?: string): Promise<TestApi> {
  const api = await startApi(time);
  await api.call("POST /customers", { body: { ...ACME, account: { id: "prod", name: "Acme prod" } } });
  return api;
}

/** A field of each item of a list. */
export async function listPart(api: TestApi, url: `/${string}`, part = "id"): Promise<readonly unknown[]> {
  const { json } = await api.call(`GET ${url}`);
  return json.data.map((item: Readonly<Record<string, unknown>>) => item[part]);
}
