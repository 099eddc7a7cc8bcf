import { beforeAll, describe, expect, test } from "vitest";
import { attenuate } from "../../../src/index.js";
import { createIssuer, createRevocationList } from "../../../src/issuer/index.js";
import { readKeyringFile } from "../../../src/stores/index.js";
import { Bench } from "../../cli/run.js";
import { RunningProgram } from "../../cli/running.js";
import { CONFIG, serve, writeAgent } from "../../cli/serving.js";
import { childProgram } from "../../support/children.js";
import { freePort } from "../../support/free-port.js";

// The resource server runs in a separate process, with only its keys and the feed's URL. `proviso serve` runs
// the issuer.

const bench = new Bench();
beforeAll(async () => {
  await bench.init();
  writeAgent(bench);
});

/** A running resource server. */
interface Resource {
  /** Returns the codes of the refusal, or the principal for whom the call was allowed. */
  read(token: string, id?: string): Promise<string>;
  refresh(): Promise<{
    readonly problem?: string;
    readonly size: number;
    readonly version: number;
  }>;
  wait(seconds: number): Promise<void>;
}

async function resourceServer(service: string, feed: string): Promise<Resource> {
  const file = `${service}.jwks`;
  await bench.output("keys", "service", service, "--output", file);
  const words = [
    childProgram("protocols/revocations", "resource-server"),
    bench.path(file),
    feed,
    "documents-agent",
  ];
  const running = new RunningProgram(words, {}, bench.folder);
  const url = (await running.says(/^http:\S+\n/)).trim();
  const post = async (path: string): Promise<string> =>
    (await fetch(`${url}/test/${path}`, { method: "POST" })).text();
  return {
    async read(token, id = "rh_1") {
      const headers = { "Proviso-Capability": token };
      const response = await fetch(`${url}/notes/${id}`, { headers });
      if (response.ok) return `for ${JSON.parse(await response.text()).for}`;
      return `${response.status} ${response.headers.get("Proviso-Denial")}`;
    },
    refresh: async () => JSON.parse(await post("refresh")),
    wait: async (seconds) => void (await post(`wait/${seconds}`)),
  };
}

const mint = (service: string): Promise<string> =>
  bench.output(
    ...["mint", "--grant", "notes:read", "--op", "read", "--principal", "alice"],
    ...["--service", service, "--expires", "12h"],
  );

function narrowed(token: string, id: string): string {
  const child = attenuate(token, { resourceHandles: [id] });
  return child.ok ? child.token : "";
}

test("a resource server checks tokens with only its own keys and the revocation feed", async () => {
  const port = await freePort();
  const config = { ...CONFIG, protocols: ["a2a", "revocations"], listen: { port } };
  const { running } = await serve(bench, config);
  const { revocationsUrl } = JSON.parse(running.stdout);
  expect(revocationsUrl).toBe(`http://127.0.0.1:${port}/revocations`);
  const [notes, archive] = await Promise.all([
    resourceServer("notes", revocationsUrl),
    resourceServer("archive", revocationsUrl),
  ]);
  expect(await notes.refresh()).toEqual({ size: 0, version: 0 });
  expect(await archive.refresh()).toMatchObject({ size: 0 });

  const token = await mint("notes");
  expect(await notes.read(token)).toBe("for alice");
  expect(await archive.read(token)).toBe("401 unknown_key");
  expect(
    await notes.read(await bench.output("mint", "--grant", "notes:read", "--op", "read")),
  ).toBe("401 unknown_key");
  const child = narrowed(token, "rh_1");
  expect(await notes.read(child)).toBe("for alice");
  expect(await notes.read(child, "rh_2")).toBe("403 resource_denied");

  // A token that the service makes is valid only at that service.
  const own = createIssuer({
    name: "documents-agent",
    keys: readKeyringFile(bench.path("notes.jwks")),
    revocations: createRevocationList(),
  });
  const forged = own.mint({
    grant: "notes:read",
    operations: ["read"],
    principal: "mallory",
  }).token;
  expect(await notes.read(forged)).toBe("for mallory");
  expect(await archive.read(forged)).toBe("401 unknown_key");
  const here = await bench.run(["verify", forged, "--grant", "notes:read", "--op", "read"]);
  expect(here).toMatchObject({ status: 1, stdout: expect.stringContaining("audience_denied") });

  await bench.output("revoke", child);
  await expect.poll(async () => (await notes.refresh()).size).toBe(1);
  expect(await notes.read(child)).toBe("401 revoked");
  expect(await notes.read(token)).toBe("for alice");

  // After a rotation, the service still accepts tokens of the old root key. For new tokens, it needs its new
  // key.
  await bench.output("keys", "rotate");
  expect(await notes.read(token)).toBe("for alice");
  const renewed = await mint("notes");
  expect(await notes.read(renewed)).toBe("401 unknown_key");
  await bench.output("keys", "service", "notes", "--output", "notes.jwks");
  expect(await notes.read(renewed)).toBe("for alice");
  // The issuer checks for a new key file ten times a second.
  await expect.poll(() => notes.refresh()).not.toHaveProperty("problem");

  // Retiring a root key also revokes the key. The service learns of the revocation from the feed, although it
  // still has the key derived from that root key.
  const [old] = JSON.parse(bench.read("home/keyring.json")).keys;
  await bench.output("keys", "retire", old.kid);
  await expect.poll(async () => (await notes.refresh()).size).toBe(2);
  expect(await notes.read(token)).toBe("401 revoked");
  expect(await notes.read(renewed)).toBe("for alice");

  running.stop();
  expect(await running.ended).toBe(0);
  // The first request may use the connection that the issuer has just closed.
  await expect.poll(async () => (await notes.refresh()).problem).toContain("nothing listens there");
  expect(await notes.read(renewed)).toBe("for alice");
  await notes.wait(301);
  expect(await notes.read(renewed)).toBe("503 revocation_stale");
  expect(await notes.read(child)).toBe("401 revoked,revocation_stale");
});

describe("proviso serve", () => {
  test.each([
    ["that is not served", { revocationFeed: { maxAge: "1m" } }, "has no effect"],
    [
      "that trusts a list for too long",
      { protocols: ["revocations"], revocationFeed: { maxAge: "2d" } },
      "is more than a day",
    ],
  ])("refuses the configuration of a revocation feed %s", async (_about, change, message) => {
    bench.write("wrong.json", JSON.stringify({ ...CONFIG, ...change }));
    const { status, stderr } = await bench.run(["serve", "wrong.json"]);
    expect(status).toBe(6);
    expect(stderr).toContain(message);
  });
});
