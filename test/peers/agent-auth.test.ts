import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../src/bytes/json.js";
import { objectIn, objectsIn, textIn } from "../../src/client/received.js";
import { startOurs } from "../protocols/agent-auth/differential/our-server.js";
import type { AgentAuthServer } from "../protocols/agent-auth/differential/server.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The published SDK and the published command of Agent-Auth, unchanged, with our server. docs/testing.md says
// how to get them.

const NAME = "PROVISO_PEER_AGENT_AUTH";
const CHECKOUT = process.env[NAME] ?? "";
const SDK = join(CHECKOUT, "packages/sdk/src/index.ts");
const COMMAND = join(CHECKOUT, "packages/cli/src/cli.ts");
const isThere = CHECKOUT !== "" && existsSync(SDK) && existsSync(COMMAND);

if (!isThere) {
  const found = CHECKOUT === "" ? "is not set" : `names ${CHECKOUT}, where they are not`;
  console.warn(`${NAME} ${found}: Agent-Auth's SDK and command are skipped (docs/testing.md)`);
}

/** Bundles code of the checkout with this project's copies of the packages that it needs. */
async function bundled(name: string, contents: string, folder: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    stdin: { contents, resolveDir: CHECKOUT },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
    alias: { "@auth/agent": SDK },
    nodePaths: [join(process.cwd(), "node_modules")],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
  return outfile;
}

let server: AgentAuthServer;
let folder = "";
let command = "";

interface Ran {
  readonly status: number | null;
  readonly out: JsonObject;
  readonly errors: string;
}

/** Runs the command. Alice approves each code that the command shows. */
function run(storage: string, ...words: readonly string[]): Promise<Ran> {
  const options = ["--storage-dir", storage, "--directory-url", server.origin, "--no-browser"];
  const child: ChildProcess = spawn(process.execPath, [command, ...options, ...words]);
  let [output, errors] = ["", ""];
  const approvals: Promise<void>[] = [];
  child.stdout?.on("data", (chunk) => {
    output += String(chunk);
  });
  child.stderr?.on("data", (chunk) => {
    errors += String(chunk);
    const userCode = /Code: (\S+)/.exec(String(chunk))?.[1];
    if (userCode !== undefined) approvals.push(server.alice.approve({ agentId: "", userCode }));
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => {
      Promise.all(approvals).then(() => {
        const parsed: unknown = output.startsWith("{") ? JSON.parse(output) : {};
        resolve({ status, out: isObject(parsed) ? objectIn(parsed as JsonObject) : {}, errors });
      }, reject);
    });
  });
}

async function done(storage: string, ...words: readonly string[]): Promise<JsonObject> {
  const { status, out, errors } = await run(storage, ...words);
  if (status !== 0) throw new Error(`${words.join(" ")}: ${errors}`);
  return out;
}

describe.skipIf(!isThere)(
  "the clients of Agent-Auth against proviso's server",
  { timeout: 300_000 },
  () => {
    beforeAll(async () => {
      folder = temporaryFolder();
      server = await startOurs();
      const code = `import { buildCli } from ${JSON.stringify(COMMAND)}; buildCli().parse();`;
      command = await bundled("command", code, folder);
    });

    afterAll(() => server.close());

    test("the command discovers, connects, executes, escalates, rotates, reactivates and disconnects", async () => {
      const home = join(folder, "home");
      const provider = ["--provider", server.issuer];
      const found = await done(home, "discover", server.origin);
      expect(found).toMatchObject({ issuer: server.issuer, provider_name: "bank" });
      const listed = await done(home, "capabilities", ...provider, "--query", "balance");
      expect(objectsIn(listed["capabilities"])).toMatchObject([{ name: "check_balance" }]);
      const described = await done(home, "describe", "transfer_funds", ...provider);
      expect(described["input"]).toMatchObject({ required: ["amount", "to"] });

      const connected = await done(home, "connect", ...provider, "--capabilities", "check_balance");
      expect(connected).toMatchObject({ status: "active" });
      const id = textIn(connected["agentId"]) ?? "";
      const balance = ["execute", id, "check_balance", "--args", '{"account_id":"acc_1"}'];
      expect(await done(home, ...balance)).toEqual({ data: { account_id: "acc_1", balance: 512 } });

      const constraints = JSON.stringify({ transfer_funds: { amount: { max: 10 } } });
      const more = ["--capabilities", "transfer_funds", "--constraints", constraints];
      const asked = await done(home, "request", id, ...more);
      expect(asked).toMatchObject({ granted: ["check_balance", "transfer_funds"], denied: [] });
      const pay = (amount: number) =>
        run(home, "execute", id, "transfer_funds", "--args", `{"amount":${amount},"to":"acc_1"}`);
      expect((await pay(10)).out).toEqual({ data: { transfer_id: "transfer-1" } });
      expect(await pay(11)).toMatchObject({ status: 1, errors: expect.stringContaining("amount") });

      expect(await done(home, "rotate-agent-key", id)).toEqual({ agentId: id, status: "active" });
      expect(await done(home, ...balance)).toHaveProperty("data");
      for (let time = 0; time < 2; time++) {
        const rotated = await done(home, "rotate-host-key", server.issuer);
        expect(rotated).toMatchObject({ status: "active" });
      }
      expect(await done(home, "status", id)).toMatchObject({ agent_id: id, status: "active" });
      // The new connection proves the host's key, so the host stays linked to the user.
      const second = await done(home, "connect", ...provider, "--capabilities", "list_payees");
      expect(second).toMatchObject({ status: "active", hostId: connected["hostId"] });

      await server.expire(id);
      expect(await run(home, ...balance)).toMatchObject({ status: 1 });
      expect(await done(home, "reactivate", id)).toMatchObject({ agentId: id, status: "active" });
      expect(await done(home, ...balance)).toHaveProperty("data");
      expect(await done(home, "disconnect", id)).toEqual({ ok: true, agentId: id });
      expect(await run(home, ...balance)).toMatchObject({ status: 1 });
    });

    test("the command enrols a host with a user's token, and connects two agents of the host", async () => {
      const home = join(folder, "enrolled");
      const provider = ["--provider", server.issuer];
      await done(home, "discover", server.origin);
      const token = await server.alice.enrolmentToken();
      const enrolled = await done(home, "enroll-host", ...provider, "--token", token);
      expect(enrolled).toMatchObject({ status: "active" });
      const connected = await done(home, "connect", ...provider, "--capabilities", "list_payees");
      const id = textIn(connected["agentId"]) ?? "";
      expect(await done(home, "execute", id, "list_payees")).toEqual({ data: { done: true } });
      const again = await done(home, "connect", ...provider, "--capabilities", "check_balance");
      expect(again).toMatchObject({ status: "active", hostId: connected["hostId"] });
    });

    test("the SDK registers an autonomous agent, executes a batch, and has the agent claimed", async () => {
      const file = await bundled("sdk", `export * from ${JSON.stringify(SDK)};`, folder);
      const { AgentAuthClient } = await import(/* @vite-ignore */ pathToFileURL(file).href);
      const client = new AgentAuthClient({
        allowDirectDiscovery: true,
        onApprovalRequired: ({ user_code: userCode }: { user_code: string }) =>
          server.alice.approve({ agentId: "", userCode }),
      });
      const { issuer } = await client.discoverProvider(server.origin);
      const { agentId, status } = await client.connectAgent({
        provider: issuer,
        mode: "autonomous",
        capabilities: ["list_payees"],
      });
      expect(status).toBe("active");
      const { responses } = await client.batchExecuteCapabilities({
        agentId,
        requests: [{ capability: "list_payees" }],
      });
      expect(responses).toMatchObject([{ status: "completed", data: { done: true } }]);
      const claimed = await client.claimAgent({ provider: issuer, agentId });
      expect(claimed).toMatchObject({ agentId, status: "claimed" });
      client.destroy();
    });
  },
);
