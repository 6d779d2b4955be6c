/** Every endpoint of the API. */
import type { Endpoint } from "../http/endpoint.ts";
import { ACCOUNT_PLAN_ENDPOINTS, MIGRATION_ENDPOINTS } from "./accounts/account-plans.ts";
import { ACCOUNT_ENDPOINTS, ALIAS_ENDPOINTS, CUSTOMER_ENDPOINTS } from "./accounts/accounts.ts";
import { INVOICE_GROUP_ENDPOINTS } from "./accounts/invoice-groups.ts";
import { CREDIT_BALANCE_ENDPOINTS, CREDIT_ENDPOINTS } from "./billing/credits.ts";
import { FEATURE_ENTRY_ENDPOINTS, LICENSE_UPDATE_ENDPOINTS } from "./billing/entries-and-licenses.ts";
import { INVOICE_ENDPOINTS } from "./billing/invoices.ts";
import { LINE_EVENT_ENDPOINTS } from "./billing/line-events.ts";
import { ADD_ON_ENDPOINTS, FEATURE_ENDPOINTS, SETTING_ENDPOINTS } from "./catalog/catalog-items.ts";
import { EVENT_SCHEMA_ENDPOINTS, USAGE_METER_ENDPOINTS } from "./catalog/event-schemas.ts";
import { PRICE_PLAN_ENDPOINTS } from "./catalog/price-plans.ts";
import { EVENT_ENDPOINTS } from "./events/events.ts";
import { INGEST_ENDPOINTS } from "./events/ingest.ts";
import { METRIC_ENDPOINTS } from "./metrics/metrics.ts";

/** In document order. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...CUSTOMER_ENDPOINTS,
  ...ACCOUNT_ENDPOINTS,
  ...ACCOUNT_PLAN_ENDPOINTS,
  ...ALIAS_ENDPOINTS,
  ...INVOICE_GROUP_ENDPOINTS,
  ...EVENT_SCHEMA_ENDPOINTS,
  ...USAGE_METER_ENDPOINTS,
  ...FEATURE_ENDPOINTS,
  ...ADD_ON_ENDPOINTS,
  ...PRICE_PLAN_ENDPOINTS,
  ...SETTING_ENDPOINTS,
  ...MIGRATION_ENDPOINTS,
  ...INGEST_ENDPOINTS,
  ...EVENT_ENDPOINTS,
  ...FEATURE_ENTRY_ENDPOINTS,
  ...LICENSE_UPDATE_ENDPOINTS,
  ...CREDIT_ENDPOINTS,
  ...INVOICE_ENDPOINTS,
  ...LINE_EVENT_ENDPOINTS,
  ...CREDIT_BALANCE_ENDPOINTS,
  ...METRIC_ENDPOINTS,
];
