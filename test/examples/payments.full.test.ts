import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bench } from "../cli/run.js";
import { RunningProgram } from "../cli/running.js";
import { chromiumInstalled, startChromium } from "../support/chromium.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The example of docs/guides/payments.md runs in a copy. Desk, bank, agent and sub-agent are separate
// processes, and Alice uses a real browser.

const root = fileURLToPath(new URL("../..", import.meta.url));
const guide = join(root, "docs", "guides", "payments.md");
/** Every run takes the screenshot. Only a run with PROVISO_SCREENSHOTS=write saves it to this file. */
const SCREENSHOT = join(root, "docs", "guides", "payments-approval.png");

/** The running processes of the example, and their addresses. */
interface Payments {
  readonly folder: string;
  readonly desk: RunningProgram;
  readonly url: string;
  readonly token: string;
}

async function start(): Promise<Payments> {
  const folder = temporaryFolder(join(root, ".examples"));
  const filter = (path: string): boolean => !path.includes(".data");
  cpSync(join(root, "examples", "payments"), folder, { recursive: true, filter });
  const words = [join(folder, "start.mjs"), "--json", "--port", "0", "--bank-port", "0"];
  const desk = new RunningProgram(words, {}, folder);
  const { url, token } = JSON.parse(await desk.says(/^\{.*\}$/m));
  // When the example ends, it ends the processes that it has started.
  onTestFinished(async () => {
    desk.stop();
    await desk.ended;
  });
  return { folder, desk, url, token };
}

/** Runs the payments agent. It makes a request, and waits for its user. */
async function ask({ folder, url }: Payments) {
  const agent = new RunningProgram([join(folder, "agent.mjs"), url], {}, folder);
  const [, link = ""] = /approve at (\S+)/.exec(await agent.says(/approve at \S+\n/)) ?? [];
  return { agent, link };
}

/** Returns the blocks of the guide that show output, as patterns. "…" matches anything. */
function shown(): readonly RegExp[] {
  const blocks = readFileSync(guide, "utf8").matchAll(/^```text\n(.*?)^```$/gms);
  const lines = [...blocks].flatMap(([, block = ""]) => block.trimEnd().split("\n"));
  return lines.map((line) => {
    const parts = line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`);
  });
}

/** Follows the link as Alice, signs in, and removes the permissions that the guide names. */
async function tighten(page: Page, link: string, token: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel("Development token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Limit it", { exact: true }).last().click();
  const argument = (name: string) =>
    page.getByRole("group", { name: new RegExp(`^Argument.*${name}`) });
  await argument("amount").getByLabel("At most").fill("1000");
  for (const other of ["EUR", "GBP"]) {
    await argument("currency").getByLabel(`Allow "${other}"`).uncheck();
  }
  await argument("payee").getByLabel("Only these values").fill("ACME Office Supplies");
  await page.getByRole("button", { name: "Show what is left" }).click();
  await page.getByRole("status").waitFor();
}

describe.skipIf(!chromiumInstalled())("the payments example in a browser", () => {
  test("a user tightens a request, and the bank enforces the limits", async () => {
    const payments = await start();
    const { desk, token } = payments;
    const [browser, { agent, link }] = await Promise.all([startChromium(), ask(payments)]);
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 900, height: 800 } });
    page.setDefaultTimeout(20_000);
    await tighten(page, link, token);
    expect(await page.getByRole("status").innerText()).toMatch(/at most 1000/);
    const picture = await page.screenshot({ fullPage: true });
    expect(picture.subarray(1, 4).toString()).toBe("PNG");
    if (process.env["PROVISO_SCREENSHOTS"] === "write") writeFileSync(SCREENSHOT, picture);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "You approved" }).waitFor();

    expect(await agent.ended).toBe(0);
    const said = agent.stdout.trimEnd().split("\n");
    const expected = shown();
    expect(said).toHaveLength(expected.length);
    for (const [at, line] of said.entries()) expect(line).toMatch(expected[at] ?? /^$/);
    // The bank has executed exactly these payments.
    const paid = [...desk.stderr.matchAll(/^bank: (.*)$/gm)].map(([, line]) => line);
    expect(paid).toEqual([
      "paid 250 USD of alice to ACME Office Supplies (invoice-41)",
      "paid 100 USD of alice to ACME Office Supplies (invoice-42)",
    ]);
  });
});

test("the payments agent pays nothing after a denial on the command line", async () => {
  const payments = await start();
  const { agent, link } = await ask(payments);
  const code = new URL(link).searchParams.get("user_code") ?? "";
  const home = join(payments.folder, ".data", "home");
  const bench = new Bench();
  const deny = ["grants", "deny", code, "--as", "alice", "--user-code", code];
  const denied = await bench.run([...deny, "--reason", "not this month"], {
    env: { PROVISO_HOME: home },
  });
  expect(denied).toMatchObject({ status: 0, stderr: "" });
  expect(await agent.ended).toBe(1);
  expect(agent.stdout).toMatch(
    /nothing was granted: .*not this month|nothing was granted: rejected/,
  );
  expect(payments.desk.stderr).not.toContain("bank: paid");
});
