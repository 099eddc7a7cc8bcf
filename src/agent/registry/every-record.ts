import { MAX_FOUND, type Records } from "./registry-store.js";

/** All records that a query finds, of which there may be more than one look gives. */
export async function everyRecord<Kept extends { readonly id: string }, Query>(
  records: Records<Kept, Query>,
  query: Query,
): Promise<readonly Kept[]> {
  const all: Kept[] = [];
  for (;;) {
    const after = all.at(-1)?.id;
    const page = await records.find({ ...query, ...(after === undefined ? {} : { after }) });
    all.push(...page);
    if (page.length < MAX_FOUND) return all;
  }
}
