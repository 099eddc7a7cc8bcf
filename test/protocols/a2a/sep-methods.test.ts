import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { formatTime } from "../../../src/caveats/time.js";
import { bindDischarges, revocationId } from "../../../src/index.js";
import { ERROR_CODES, ERROR_DOMAIN, EXTENSION_URI } from "../../../src/protocols/a2a/index.js";
import { answering, needing } from "../../capability/made.js";
import { CALLERS, startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { at, quietConsole, rpc, textAt } from "./callers.js";

let agent: TestAgent;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent({
    runTask: async ({ capabilities, invoke, data }) => {
      const [given] = data;
      const query = typeof given === "string" ? given : "Revenue";
      const searched = await invoke("search_documents", { query });
      return {
        capabilities: capabilities.map(({ id }) => id),
        searched: searched.ok ? searched.result : searched.denials.map(({ code }) => code),
      };
    },
  });
});

afterAll(() => agent.remove());

const curl = spawnSync("curl", ["--version"]).status === 0;
if (!curl)
  console.warn("curl is missing: the run over plain HTTP is skipped (apt-get install curl)");

test.skipIf(!curl)(
  "a shell script with curl can request, narrow, use, introspect and revoke a capability",
  async () => {
    const script = fileURLToPath(new URL("sep.sh", import.meta.url));
    const { stdout } = await promisify(execFile)("sh", [
      script,
      agent.server.rpcUrl,
      CALLERS.alice,
    ]);
    const steps = new Map(
      stdout.split("\n").flatMap((line) => {
        const [, step, body, status] = /^(\S+) (.*) (\d{3})$/.exec(line) ?? [];
        return step === undefined || body === undefined
          ? []
          : [[step, { status, body: JSON.parse(body) }]];
      }),
    );
    expect([...steps.values()].map(({ status }) => status)).toEqual(Array(13).fill("200"));
    const answer = (step: string): Json => steps.get(step)?.body ?? null;

    const id = textAt(answer("request"), "result", "capabilities", 0, "id");
    expect(id).toMatch(/^cap_/);
    expect(at(answer("request"), "result", "capabilities", 0)).toMatchObject({
      grant: "documents:read",
      principal: "alice",
      operations: ["retrieve", "search"],
      resourceHandles: [
        { handle: expect.stringMatching(/^rh_/), displayName: expect.any(String), kind: "item" },
        { handle: expect.stringMatching(/^rh_/), displayName: expect.any(String), kind: "item" },
      ],
    });
    expect(answer("attenuate")).toMatchObject({
      result: { capability: { id, constraints: { operations: ["retrieve"] } } },
    });
    for (const step of ["invoke-by-id", "invoke-by-token", "parent-lives"]) {
      expect(answer(step)).toMatchObject({
        result: {
          result: { text: expect.stringContaining("Revenue") },
          metadata: { [EXTENSION_URI]: { authority: "capability", capability: id } },
        },
      });
    }
    expect(answer("search-with-narrow")).toMatchObject(denied("operation_denied"));
    const task = at(answer("send"), "result", "task");
    expect(task).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
    // The task has the authority of the capability as narrowed by the attenuation.
    expect(at(task, "artifacts", 0, "parts", 0, "data")).toEqual({
      capabilities: [id],
      searched: ["operation_denied"],
    });
    expect(answer("introspect")).toMatchObject({
      result: { active: true, id, hops: 2, principal: "alice" },
    });
    expect(answer("revoke")).toMatchObject({ result: { revoked: true, capabilityId: id } });
    for (const step of ["refused", "all-refused"])
      expect(answer(step)).toMatchObject(denied("revoked"));
    expect(answer("introspect-revoked")).toMatchObject({
      result: { active: false, denials: [{ code: "revoked" }] },
    });
  },
);

function denied(code: string) {
  const data = [{ reason: code, domain: ERROR_DOMAIN }, { value: { denials: [{ code }] } }];
  return { error: { code: ERROR_CODES.denied, data } };
}

async function capability(): Promise<{ readonly id: string; readonly token: string }> {
  const { body } = await rpc(agent, "alice", "a2a/capabilities/request", { grants: ["work:do"] });
  const granted = at(body, "result", "capabilities", 0);
  return { id: textAt(granted, "id"), token: textAt(granted, "token") };
}

test("a capability id without its token works only for the caller to whom the capability was issued", async () => {
  const { id, token } = await capability();
  const call = { skill: "wait", arguments: { milliseconds: 0 } };
  for (const who of ["calendar", "bob"] as const) {
    const byId = await rpc(agent, who, "a2a/skill/invoke", { ...call, capabilityId: id });
    expect(byId.body).toMatchObject(denied("capability_unknown"));
    for (const method of ["attenuate", "revoke"]) {
      const params = { capabilityId: id, constraints: {} };
      const answer = await rpc(agent, who, `a2a/capabilities/${method}`, params);
      expect(answer.body).toMatchObject(denied("capability_unknown"));
    }
    const introspected = await rpc(agent, who, "a2a/capabilities/introspect", { capabilityId: id });
    expect(introspected.body).toMatchObject({ result: { active: false } });
    const byToken = await rpc(agent, who, "a2a/skill/invoke", { ...call, token });
    expect(byToken.body).toMatchObject({ result: { result: { waited: 0 } } });
  }
  const other = await capability();
  const mixed = { ...call, capabilityId: other.id, token };
  expect((await rpc(agent, "alice", "a2a/skill/invoke", mixed)).body).toMatchObject(
    denied("capability_unknown"),
  );
});

test("a2a/capabilities/revoke revokes a token whose discharge is already revoked", async () => {
  const token = needing((await capability()).token, "q1");
  const dead = answering("q1", '{"purpose":"first"}');
  const [presented = "", another = ""] = [dead, answering("q1", '{"purpose":"second"}')].map(
    ({ discharge }) => bindDischarges(token, [discharge]),
  );
  const now = formatTime(Date.now());
  await agent.revocations.add({ kind: "link", id: dead.revocationId, at: now });
  const call = async (one: string): Promise<Json> => {
    const params = { skill: "wait", arguments: { milliseconds: 0 }, token: one };
    return (await rpc(agent, "alice", "a2a/skill/invoke", params)).body;
  };
  expect(await call(presented)).toMatchObject(denied("revoked"));
  expect(await call(another)).toHaveProperty("result");

  const revoke = async (one: string): Promise<Json> =>
    at((await rpc(agent, "alice", "a2a/capabilities/revoke", { token: one })).body, "result");
  const id = { revoked: true, revocationId: revocationId(token) };
  const answer = await revoke(presented);
  expect(answer).toMatchObject(id);
  expect(answer).not.toHaveProperty("already");
  expect(await call(another)).toMatchObject(denied("revoked"));
  expect(await revoke(another)).toMatchObject({ ...id, already: "revoked" });
});

test("a capability id works until its capability expires", async () => {
  const { id } = await capability();
  const call = { skill: "wait", arguments: { milliseconds: 0 }, capabilityId: id };
  expect((await rpc(agent, "alice", "a2a/skill/invoke", call)).body).toHaveProperty("result");
  agent.advance(16 * 60_000);
  try {
    expect((await rpc(agent, "alice", "a2a/skill/invoke", call)).body).toMatchObject(
      denied("capability_unknown"),
    );
  } finally {
    agent.advance(-16 * 60_000);
  }
});
