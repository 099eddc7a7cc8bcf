import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

// Debian's: playwright-core brings none.
const CHROMIUM = "/usr/bin/chromium";

let known: boolean | undefined;

/** Whether there is a browser to test pages in. If not, says once on stderr how to get it. */
export function chromiumInstalled(): boolean {
  if (known !== undefined) return known;
  known = existsSync(CHROMIUM);
  if (!known) {
    process.stderr.write(
      "chromium is not installed, tests of pages in a browser are skipped; " +
        "get it with `apt-get install chromium` or run scripts/install-peers.sh\n",
    );
  }
  return known;
}

/** Starts the browser, without a window. Close it when done. */
export function startChromium(): Promise<Browser> {
  // Chromium does not isolate pages for root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: CHROMIUM, args });
}
