import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

// Debian's Chromium, since playwright-core includes no browser.
const CHROMIUM = "/usr/bin/chromium";

let known: boolean | undefined;

/**
 * Returns whether there is a browser for tests of pages. If there is no browser, writes once to stderr how to install
 * one.
 */
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

/** Starts the browser without a window. It must be closed afterwards. */
export function startChromium(): Promise<Browser> {
  // Chromium does not sandbox pages if it runs as root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: CHROMIUM, args });
}
