import { mkdirSync } from "node:fs";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { inspect } from "../../src/index.js";
import { FULL } from "../support/size.js";
import { ALICE, decideAll, type RunningAgent, startAgent } from "./agent.js";
import { Bench } from "./run.js";
import { Shell } from "./shell.js";

const bench = new Bench();
const shell = new Shell(bench);
let agent: RunningAgent;
beforeAll(async () => {
  agent = await startAgent({ mode: "prefer", payments: true });
});
afterAll(() => agent.stop());

const VERBS = ["card", "card lint", "card diff", "request", "invoke", "audit", "audit tree"];
const help = (verb: string): Promise<string> => bench.output(...verb.split(" "), "--help");
const examplesIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = ""]) => line);

test("the help of every verb about agents has a description, examples, and a text for each option", async () => {
  for (const [at, text] of (await Promise.all(VERBS.map(help))).entries()) {
    expect(text).toMatch(new RegExp(`^Usage: proviso ${VERBS[at]}\\b.*\\n\\n[A-Z].*\\.\\n`, "s"));
    expect(examplesIn(text).length).toBeGreaterThan(0);
    for (const [line] of text.matchAll(/^ {2}-.*$/gm)) expect(line).toMatch(/ {2}\S.* {2,}\S/);
    for (const line of text.split("\n")) {
      if (!line.startsWith("  $")) expect(line.length, line).toBeLessThanOrEqual(80);
    }
  }
});

if (FULL) {
  test("all examples in the help of verbs about agents work, in order, with a running agent", async () => {
    bench.write("access", ALICE);
    const ask = ["request", agent.url, "--grant", "documents:read", "--collection", "reports"];
    const env = { PROVISO_ACCESS_TOKEN: ALICE };
    const first = (await bench.run([...ask, "--filter", "year=2025"], { env })).stdout.trim();
    const capability = inspect(first).capability?.id ?? "";
    const pay = ["request", agent.url, "--grant", "payments:transfer", "--json"];
    const { pending } = JSON.parse((await bench.run(pay, { env })).stdout);
    await decideAll(agent, "approve");
    const lines = (await Promise.all(VERBS.map(help))).flatMap(examplesIn).map((line) =>
      line
        .replaceAll(/http:\/\/127\.0\.0\.1:8080|https:\/\/agent\.example/g, agent.url)
        .replaceAll("/srv/agent/proviso.db", agent.ledgerPath)
        .replaceAll("cap_GWr1hed4gOYvJokW", capability)
        .replaceAll("approval_5bWq0Yx3mNfQk2Zt8cVh1A", pending.approvalId),
    );
    const read = `require("fs").readFileSync("inspected")`;
    const handle = `node -p 'JSON.parse(${read}).authority.resourceHandles[0]'`;
    const script = lines.map((line) => {
      // In the example, the user copies the handle from the output of `request`.
      const copied = line.includes("$HANDLE")
        ? `proviso inspect @token --json > inspected; HANDLE="$(${handle})"\n`
        : "";
      return `${copied}${line}`;
    });
    const card = await fetch(new URL("/.well-known/agent-card.json", agent.url));
    bench.write("card.json", await card.text());
    // The examples read the ledger of the agent, so it replaces that of the home.
    mkdirSync(bench.home);
    const link = `ln -s "${agent.ledgerPath}" "${bench.home}/proviso.db"`;
    // One example compares the card with the version that was committed.
    const author = "-c user.name=alice -c user.email=alice@example.com";
    const commit = `git init --quiet && git add card.json && git ${author} commit --quiet -m card`;
    // Alice approves all waiting requests, about every 100 ms.
    const approving = setInterval(() => void decideAll(agent, "approve"), 100);
    onTestFinished(() => clearInterval(approving));
    expect(await shell.runLines([link, commit, ...script])).not.toContain("proviso:");
  });
}
