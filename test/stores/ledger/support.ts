import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LedgerEvent } from "../../../src/agent/ledger.js";
import type { LedgerFile } from "../../../src/stores/ledger/ledger-file.js";
import { openLedger } from "../../../src/stores/ledger/open-ledger.js";
import type { LedgerOptions } from "../../../src/stores/ledger/options.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

export const AT = "2026-01-01T00:00:00.000Z";

export function invocation(more: Partial<LedgerEvent> = {}): LedgerEvent {
  return { kind: "invocation", at: AT, decision: "allowed", ...more };
}

export function newPath(): string {
  return join(temporaryFolder(), "ledger.db");
}

/** A ledger that is closed when the test is done. */
export async function newLedger(
  options: LedgerOptions = {},
  path: string = newPath(),
): Promise<LedgerFile> {
  const ledger = await openLedger(path, options);
  onTestFinished(() => {
    try {
      ledger.close();
    } catch {
      // The test has broken its file.
    }
  });
  return ledger;
}
