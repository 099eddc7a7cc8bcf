import { describe, expect, onTestFinished, test } from "vitest";
import { Bench, type Document, document } from "./run.js";
import { CONFIG, serve, TOKENS, writeAgent } from "./serving.js";

// An agent of `proviso serve` with the protocol `delegation`.

const BOTH: Document = { ...CONFIG, protocols: ["a2a", "delegation"] };

async function bench(): Promise<Bench> {
  const made = new Bench();
  await made.init();
  writeAgent(made);
  return made;
}

async function introspect(url: string, prefix: string): Promise<number> {
  const headers = { Authorization: `Bearer ${TOKENS.alice}` };
  return (await fetch(`${url}${prefix}/token/introspect`, { headers })).status;
}

describe("serve with the protocol delegation", () => {
  test("serves delegation under the configured prefix only", async () => {
    const made = await bench();
    const { running, url } = await serve(made, { ...BOTH, delegation: { prefix: "/idp" } });
    onTestFinished(() => running.stop());
    const said = document(running.stdout);
    expect(said["delegationUrl"] ?? said["addresses"]).toEqual(`${url}/idp`);
    expect(await introspect(url, "/idp")).toBe(200);
    expect(await introspect(url, "/api/v1")).toBe(404);
  });

  test("serves no delegation if the configuration has enabled: false", async () => {
    const made = await bench();
    const { running, url } = await serve(made, { ...BOTH, delegation: { enabled: false } });
    onTestFinished(() => running.stop());
    expect(await introspect(url, "/api/v1")).toBe(404);
  });

  test.each([
    [
      { delegation: { prefix: "api/" } },
      "delegation.prefix: must be empty, or begin with / and not end with it, such as /api/v1",
    ],
    [
      { delegation: { agents: [{ id: "a" }, { id: "b", invoker: "a" }] } },
      'delegation.agents[1].invoker: "a" is taken',
    ],
    [{ delegation: { agents: [{ invoker: "a" }] } }, "delegation.agents[0].id: is missing"],
    [
      {
        grants: [
          { id: "notes:read", description: "Read notes", operations: ["read"] },
          { id: "notes", description: "Notes", operations: ["read", "wait"] },
        ],
        policy: { rules: [] },
      },
      'grants: scopes of delegation are ambiguous: "notes:read" would be the grant "notes:read" and ' +
        'the operation "read" of the grant "notes"',
    ],
  ])("refuses a wrong configuration of delegation: %j", async (wrong, message) => {
    const made = await bench();
    made.write("wrong.json", JSON.stringify({ ...BOTH, ...wrong }));
    const { status, stderr } = await made.run(["serve", "wrong.json", "--json"]);
    expect(status).toBe(6);
    const { error } = document(stderr);
    expect(error.problems.map((one: Document) => one["message"])).toEqual([message]);
  });
});
