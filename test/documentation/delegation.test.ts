import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { REFUSALS } from "../../src/protocols/delegation/errors.js";
import { Bench, document, runProgram } from "../cli/run.js";
import { serve } from "../cli/serving.js";
import { textAt } from "../protocols/a2a/callers.js";
import { MAIN } from "../support/built.js";
import { FULL } from "../support/size.js";

// The walk-through of docs/delegation.md works as written. The same delegation also works offline.

const page = readFileSync(
  fileURLToPath(new URL("../../docs/delegation.md", import.meta.url)),
  "utf8",
);

/** The commands of SentryAgent's guide (a2a-delegation.md), word for word. */
const COMMANDS = [
  `curl -s -X POST http://localhost:3000/api/v1/oauth2/token/delegate \\
  -H "Authorization: Bearer $DELEGATOR_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{
    "delegateeAgentId": "'$DELEGATEE_AGENT_ID'",
    "scopes": ["agents:read"],
    "ttlSeconds": 3600
  }' | jq .
`,
  `curl -s -X POST http://localhost:3000/api/v1/oauth2/token/verify-delegation \\
  -H "Authorization: Bearer $DELEGATEE_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{ "delegationToken": "'$DELEGATION_TOKEN'" }' | jq .
`,
  `curl -s -X DELETE "http://localhost:3000/api/v1/oauth2/token/delegate/$CHAIN_ID" \\
  -H "Authorization: Bearer $DELEGATOR_TOKEN" \\
  -o /dev/null -w "%{http_code}\\n"
`,
];

const [ORCHESTRATOR, SUMMARIZER] = ["access-of-the-orchestrator", "access-of-the-summarizer"];
const DELEGATEE = "b2c3d4e5-f6a7-8901-bcde-f12345678901";

const tools = ["curl", "jq"].filter((tool) => spawnSync(tool, ["--version"]).status !== 0);
if (tools.length > 0) console.warn(`${tools.join(", ")} missing: the walk-through is skipped`);

const SKILLS = `export default () => ({
  skills: ["read", "write"].map((operation) => ({
    ...{ id: operation, name: operation, description: operation, operation, reach: "none" },
    ...{ input: { type: "object" }, run: async () => ({ done: operation }) },
  })),
});
`;

if (FULL) {
  test.skipIf(tools.length > 0)(
    "the walk-through of docs/delegation.md works as written",
    async () => {
      const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
      const [introspect = "", delegate = "", saved = "", offline = "", verify = "", revoke = ""] =
        blocks;
      expect(blocks).toHaveLength(6);
      expect([delegate, verify, revoke]).toEqual(COMMANDS);
      expect(saved).toMatch(/^export DELEGATION_TOKEN="\S+"\nexport CHAIN_ID="\S+"\n$/);

      const bench = new Bench();
      await bench.init();
      bench.write("skills.mjs", SKILLS);
      const [, shown = ""] = /^```json\n([\s\S]*?)^```$/m.exec(page) ?? [];
      const { running, url, rpc } = await serve(bench, {
        name: "Agents",
        description: "Agents",
        home: "home",
        skills: "skills.mjs",
        lifetime: "12h",
        grants: [{ id: "agents", description: "Agents", operations: ["read", "write"] }],
        policy: { rules: [{ principal: "alice", grant: "agents", operations: "*" }] },
        authentication: {
          development: [
            { token: ORCHESTRATOR, principal: "alice", invoker: "orchestrator" },
            { token: SUMMARIZER, principal: "alice", invoker: "summarizer" },
          ],
        },
        ...document(shown),
      });
      onTestFinished(() => running.stop());
      const asked = { grants: ["agents"], purpose: "a report" };
      const answer = await rpc("a2a/capabilities/request", asked, ORCHESTRATOR);
      const capability = textAt(answer.body, "result", "capabilities", 0, "token");

      const bin = bench.path("bin");
      mkdirSync(bin);
      writeFileSync(`${bin}/proviso`, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
      chmodSync(`${bin}/proviso`, 0o755);
      const shell = async (code: string, env: object): Promise<string> => {
        const script = code.replaceAll("http://localhost:3000", url);
        const run = await runProgram("sh", ["-eu", "-c", script], {
          cwd: bench.folder,
          env: { ...env, PATH: `${bin}:${process.env["PATH"]}` },
        });
        expect(`${run.status} ${run.stderr}`, code).toBe("0 ");
        return run.stdout;
      };
      const env = {
        DELEGATOR_TOKEN: capability,
        DELEGATEE_TOKEN: SUMMARIZER,
        DELEGATEE_AGENT_ID: DELEGATEE,
        DELEGATOR_CAPABILITY: capability,
      };
      expect(document(await shell(introspect, env))).toMatchObject({ scopes: ["agents"] });
      const made = document(await shell(delegate, env));
      expect(Object.keys(made)).toEqual(Object.keys(documentAfter("201:")));
      const kept = { DELEGATION_TOKEN: made["delegationToken"], CHAIN_ID: made["chainId"] };
      const online = document(await shell(verify, { ...env, ...kept }));
      expect(online).toMatchObject({
        valid: true,
        chainId: kept.CHAIN_ID,
        scopes: ["agents:read"],
      });
      expect(Object.keys(online)).toHaveLength(8);
      expect(await shell(`${revoke}${revoke}`, { ...env, ...kept })).toBe("204\n204\n");
      expect(document(await shell(verify, { ...env, ...kept }))).toMatchObject({
        valid: false,
        reason: "revoked",
        revokedAt: expect.any(String),
      });

      const own = (await shell(`${offline}printf %s "$OFFLINE_TOKEN"`, env)).trim();
      const seen = document(await shell(verify, { ...env, DELEGATION_TOKEN: own }));
      const times = { issuedAt: seen["issuedAt"], expiresAt: seen["expiresAt"] };
      expect(seen).toEqual({ ...online, ...times, chainId: seen["chainId"] });
      // The party of the access token has one capability, so the access token can be used in its place.
      const access = { ...env, DELEGATOR_TOKEN: ORCHESTRATOR };
      expect(await shell(revoke, { ...access, CHAIN_ID: seen["chainId"] })).toBe("204\n");
      expect(document(await shell(delegate, access))).toMatchObject({ scopes: ["agents:read"] });
    },
  );
}

test("the table of rules in docs/delegation.md has every refusal with its status and code", () => {
  const rows = page.split("\n").filter((line) => /^\| .* \| \d{3} `/.test(line));
  for (const [reason, [status, code]] of Object.entries(REFUSALS)) {
    if (reason === "capability_refused") continue;
    const row = rows.find((line) => line.includes(`\`${reason}\``) && line.includes(`${status} `));
    expect(row, reason).toContain(`${status} \`${code}\``);
  }
});

function documentAfter(heading: string): object {
  const [, text = ""] = page.split(`\n${heading}\n`);
  return document(/^```json\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? "");
}
