import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumInstalled, startChromium } from "../support/chromium.js";
import { FULL } from "../support/size.js";
import { ALICE, type RunningAgent, startAgent } from "./agent.js";
import { Bench, TOKEN } from "./run.js";
import { Shell } from "./shell.js";

// At an agent's address, a browser gets a page. Any other client gets the same answer as without the page.

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const bench = new Bench();
const shell = new Shell(bench);
let agent: RunningAgent;
let plain: RunningAgent;
beforeAll(async () => {
  bench.write("access", ALICE);
  agent = await startAgent();
  plain = await startAgent({ page: false });
});
afterAll(() => Promise.all([agent.stop(), plain.stop()]));

const get = (url: string, accept: string): Promise<Response> =>
  fetch(`${url}/`, { headers: { Accept: accept } });

test("at an agent's address, a browser gets a page without scripts that shows the agent and its grants", async () => {
  const response = await get(agent.url, BROWSER);
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
  expect(response.headers.get("Vary")).toContain("Accept");
  expect(response.headers.get("Content-Security-Policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-/,
  );
  const text = await response.text();
  for (const said of ["documents-agent", "documents:read", "documents:write", "Read documents"]) {
    expect(text).toContain(said);
  }
  expect(text).not.toContain("<script");
  expect(text).not.toContain(ALICE);
});

test("at an agent's address, a client that is not a browser gets the same 404 as from an agent without the page", async () => {
  for (const accept of ["*/*", "application/json"]) {
    const [one, other] = await Promise.all([get(agent.url, accept), get(plain.url, accept)]);
    expect([one.status, other.status]).toEqual([404, 404]);
    expect(await one.text()).toBe(await other.text());
  }
  expect((await get(plain.url, BROWSER)).status).toBe(404);
});

test("the command lines on the agent's page work", async () => {
  const text = await (await get(agent.url, BROWSER)).text();
  const lines = [...text.matchAll(/<pre>([^<]*)<\/pre>/g)].map(([, line = ""]) => unescaped(line));
  expect(lines).toHaveLength(2);
  const collection = "--collection reports";
  const [ours = "", curl = ""] = lines;
  await shell.runLines([ours.replace(" > ", ` ${collection} > `)]);
  expect(await bench.output("attenuate", "@token", "--op", "list")).toMatch(TOKEN);
  const query = '"resourceQuery":{"collection":"reports"},"grants"';
  const answer = await shell.run("sh", ["-c", curl.replace('"grants"', query)]);
  expect(answer.stdout).toContain('"capabilities"');
});

function unescaped(text: string): string {
  const marks = { "&quot;": '"', "&#39;": "'", "&gt;": ">", "&lt;": "<", "&amp;": "&" };
  return Object.entries(marks).reduce((all, [mark, sign]) => all.replaceAll(mark, sign), text);
}

if (FULL) {
  describe.skipIf(!chromiumInstalled())("the agent's page in a browser", () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await startChromium();
    });
    afterAll(() => browser.close());

    test.each([
      ["light", 1280],
      ["dark", 320],
    ] as const)(
      "uses its own style sheet and is no wider than the window: %s, %i px wide",
      async (scheme, width) => {
        const page = await browser.newPage({
          colorScheme: scheme,
          viewport: { width, height: 800 },
        });
        const problems: string[] = [];
        page.on("console", (message) => problems.push(message.text()));
        await page.goto(agent.url);
        const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
        expect(ground).toBe(scheme === "light" ? "rgb(246, 247, 248)" : "rgb(20, 23, 26)");
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
        const { PROVISO_SHOTS: shots } = process.env;
        if (shots !== undefined)
          await page.screenshot({ path: `${shots}/${scheme}.png`, fullPage: true });
        expect(problems.filter((text) => !text.includes("favicon"))).toEqual([]);
        await page.close();
      },
    );
  });
}
