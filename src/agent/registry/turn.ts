import { digestOfText } from "../approvals/digest.js";
import type { RegistryDraft } from "./registry-store.js";

/** Milliseconds for which a turn's record is kept after its last change. */
const KEPT = 24 * 60 * 60 * 1000;

/**
 * Has changes that count the same records conflict, so that one runs again. Call it before counting.
 *
 * @param whose - What is counted, and for which party.
 * @param now - Milliseconds since 1970.
 */
export async function takeTurn(
  draft: RegistryDraft,
  whose: readonly string[],
  now: number,
): Promise<void> {
  const id = `turn_${digestOfText(JSON.stringify(whose))}`;
  const { created = now } = (await draft.requests.get(id)) ?? {};
  await draft.put("requests", { id, digest: id, made: [], created, expires: now + KEPT });
}
