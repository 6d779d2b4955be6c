/**
 * The envelope of lists (service-reference: Paged list envelope).
 *
 * @module
 */
import { z } from "zod";

/** `{data, nextToken, context}`; `nextToken` is null on the last page. */
export function listOf(item: z.ZodType, id: string): z.ZodType {
  return z
    .strictObject({
      data: z.array(item),
      nextToken: z.string().nullable().meta({ description: "Null on the last page." }),
      context: z.strictObject({ pageSize: z.int() }),
    })
    .meta({ id });
}
