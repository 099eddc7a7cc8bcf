import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { createParties } from "../../src/agent/parties/create-parties.js";
import { openHome } from "../../src/home/open-home.js";
import { ENDPOINTS } from "../../src/protocols/agent-auth/discovery.js";
import { Bench, type Document, runProgram } from "../cli/run.js";
import { serve } from "../cli/serving.js";
import { runExamples } from "./run-examples.js";

// The examples of docs/agent-auth.md work as written, with this package's client and with curl.

const PAGE = readFileSync(new URL("../../docs/agent-auth.md", import.meta.url), "utf8");

function blocks(language: string): readonly string[] {
  const all = PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"));
  return [...all].map(([, code = ""]) => code);
}

const [SKILLS = "", CLIENT = ""] = blocks("js");
const [CONFIG = ""] = blocks("json");
const config: Document = JSON.parse(CONFIG);

const bench = new Bench();
beforeAll(async () => {
  await bench.init();
  bench.write("bank.mjs", SKILLS);
});

/** Approves a request as Alice: the one with a code, or the one in her list. */
async function approve(userCode?: string): Promise<void> {
  const home = await openHome({ folder: bench.home });
  try {
    const { partyStore: store, revocations } = home;
    const { approvals } = createParties({ store, revocations });
    const [waiting] = await approvals.waitingFor("alice");
    const found = userCode === undefined ? waiting : await approvals.byUserCode(userCode);
    const by = { principal: "alice", userCode };
    const answer = { answer: "approve", digest: found?.digest ?? "" } as const;
    expect(await approvals.decide(found?.id ?? "", by, answer)).toMatchObject({ ok: true });
  } finally {
    await home.close();
  }
}

test("docs/agent-auth.md names every endpoint, and has two programs", () => {
  for (const path of Object.values(ENDPOINTS)) expect(PAGE).toContain(path);
  expect(blocks("js")).toHaveLength(2);
});

test("the program of docs/agent-auth.md that uses proviso's client does what its comments say", async () => {
  const { url } = await serve(bench, config);
  const before = `
    import { openHome } from "proviso/home";
    import { createParties } from "proviso/parties";
    const URL = ${JSON.stringify(url)};
    async function userApproves() {
      const home = await openHome({ folder: ${JSON.stringify(bench.home)} });
      const { partyStore: store, revocations } = home;
      const { approvals } = createParties({ store, revocations });
      const { userCode } = agent.state.approval;
      const { id, digest } = await approvals.byUserCode(userCode);
      const by = { principal: "alice", userCode };
      const outcome = await approvals.decide(id, by, { answer: "approve", digest });
      if (!outcome.ok) throw new Error(outcome.message);
      await home.close();
    }
  `;
  const code = [...before.split("\n"), ...CLIENT.trimEnd().split("\n")];
  const failures = await runExamples([{ file: "docs/agent-auth.md", line: 1, code }]);
  expect([...failures]).toEqual([]);
});

const tools = ["curl", "openssl"].filter((tool) => spawnSync(tool, ["--version"]).error);
if (tools.length > 0) {
  console.warn(`${tools.join(" and ")} missing: the flow with curl is skipped (apt-get install)`);
}

describe.skipIf(tools.length > 0)("the curl commands of docs/agent-auth.md", () => {
  test("work in order as written", async () => {
    const { url } = await serve(bench, config);
    const [functions = "", register = "", more = "", execute = ""] = blocks("sh");
    const shell = async (code: string): Promise<string> => {
      const words = ["-eu", "-c", functions + code];
      const run = await runProgram("sh", words, { cwd: bench.folder, env: { URL: url } });
      expect(`${run.status} ${run.stderr}`, code).toBe("0 ");
      return run.stdout;
    };
    const registered = JSON.parse(await shell(register));
    expect(registered).toMatchObject({ status: "pending", name: "Clerk" });
    await approve(registered.approval.user_code);
    const [status = "", asked = ""] = (await shell(more)).split(/(?<=\})(?=\{)/);
    expect(JSON.parse(status)).toMatchObject({ status: "active", user_id: "alice" });
    const { approval, agent_capability_grants: grants } = JSON.parse(asked);
    expect(grants).toMatchObject([{ capability: "transfer_funds", status: "pending" }]);
    await approve(approval.user_code);
    expect(JSON.parse(await shell(execute))).toEqual({ data: { sent: 20, to: "acc_A" } });
  });
});
