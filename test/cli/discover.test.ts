import * as jose from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/bytes/json.js";
import { signCard } from "../../src/discovery/index.js";
import { card } from "../discovery/cards.js";
import { httpServer } from "../support/loopback-servers.js";
import { type RunningAgent, sendJson, startAgent } from "./agent.js";
import { Bench } from "./run.js";

const bench = new Bench();
let agent: RunningAgent;
beforeAll(async () => {
  agent = await startAgent();
  return () => agent.stop();
});

function discover(...args: readonly string[]) {
  return bench.json("discover", agent.url, ...args);
}

test("discover reports a suitable agent as usable, and prints the interface to use", async () => {
  const args = ["--grant", "documents:read:retrieve", "--attenuable", "--binding", "HTTP+JSON"];
  expect(await discover(...args)).toEqual({
    usable: true,
    name: "documents-agent",
    version: "1.0",
    warnings: [],
    exitCode: 0,
    interface: { url: agent.restUrl, binding: "HTTP+JSON" },
    status: 0,
  });
  expect(await bench.output("discover", agent.url)).toBe(
    `usable\n  agent      documents-agent\n  interface  JSONRPC ${agent.rpcUrl}\n  version    1.0`,
  );
});

describe("discover refuses an unsuitable agent and prints every reason", () => {
  test.each<[args: readonly string[], codes: readonly string[]]>([
    [["--require", "streaming_message"], ["capability_undeclared"]],
    [["--require", "context_reuse", "--require", "pause_resume"], ["capability_undeclared"]],
    [["--protocol", "2.0"], ["version_incompatible"]],
    [["--binding", "GRPC"], ["interface_unsupported"]],
    [["--grant", "documents:admin:*"], ["legacy_only"]],
    [["--grant", "documents:read:delete"], ["grant_operation_missing"]],
    [["--grant", "documents:write:delete", "--attenuable"], ["grant_not_attenuable"]],
    [["--grant", "documents:archive:retrieve"], ["legacy_only"]],
    [["--require-signature"], ["signature_missing"]],
    [["--end-to-end", "context_reuse"], ["chain_unknown"]],
    [["--require", "context_reuse"], ["chain_unknown"]],
  ])("with %j", async (args, codes) => {
    const { denials, status, usable, exitCode } = await discover(...args);
    const found = denials.map(({ code }: { code: string }) => code);
    expect({ found, status, usable, exitCode }).toEqual({
      found: codes,
      status: 1,
      usable: false,
      exitCode: 1,
    });
  });

  test("in words without --json", async () => {
    const { status, stdout } = await bench.run([
      "discover",
      agent.url,
      "--require",
      "pause_resume",
      "--grant",
      "documents:read:retreive",
    ]);
    expect([status, stdout]).toEqual([
      1,
      "refused, for 2 reasons\n" +
        '  capability_undeclared  the agent says that it has no "pause_resume"\n' +
        "    proviso card shows what the agent declares\n" +
        '  grant_operation_missing  the grant documents:read has no operation "retreive" (nearest: retrieve)\n' +
        "    proviso card shows the grant's operations\n",
    ]);
  });
});

test("discover --allow-legacy accepts a legacy grant, with a warning", async () => {
  const { status, warnings } = await discover("--grant", "documents:archive:x", "--allow-legacy");
  expect([status, warnings[0].code]).toEqual([0, "legacy_grant"]);
});

test("discover exits with 6, not 1, if the card could not be fetched", async () => {
  for (const [url, code] of [
    ["http://127.0.0.1:9", "card_unreachable"],
    [`${agent.url}/none`, "card_unreachable"],
  ]) {
    const { status, denials } = await bench.json("discover", url ?? "");
    expect([status, denials[0].code]).toEqual([6, code]);
  }
});

test("discover --trusted-key verifies a signed card with a public key from a file", async () => {
  const { privateKey, publicKey } = await jose.generateKeyPair("EdDSA", { extractable: true });
  const signed: JsonObject = await signCard(card(), { key: privateKey, alg: "EdDSA", kid: "k" });
  const server = await httpServer((_request, response) => sendJson(response, signed));
  const jwk = { ...(await jose.exportJWK(publicKey)), kid: "k" };
  bench.write("key.jwk", JSON.stringify(jwk));
  bench.write("keys.json", JSON.stringify({ keys: [jwk] }));
  bench.write("private.jwk", JSON.stringify(await jose.exportJWK(privateKey)));
  // The host name of the card's interface does not exist. The command notices that only after it has checked
  // the signature.
  const codes = async (...args: readonly string[]): Promise<string> => {
    const { denials } = await bench.json("discover", server.url, "--require-signature", ...args);
    return denials.map(({ code, rule }: Record<string, string>) => `${code}/${rule}`).join(" ");
  };
  expect(await codes()).toMatch(/^signature_untrusted\/requireSignature/);
  expect(await codes("--trusted-key", "key.jwk")).toBe("card_unreachable/interface");
  expect(await codes("--trusted-key", "keys.json")).toBe("card_unreachable/interface");
  const { status, stderr } = await bench.run([
    "discover",
    server.url,
    "--trusted-key",
    "private.jwk",
  ]);
  expect([status, stderr]).toEqual([2, expect.stringMatching(/not a public key/)]);
});

describe("discover on a chain of agents", () => {
  const agents = async (last: JsonObject) => {
    const server = await httpServer((request, response) => {
      const [, name = ""] = (request.url ?? "").split("/");
      const next = { a: "b", b: "c" }[name];
      const delegates = next === undefined ? [] : [{ url: `${server.url}/${next}` }];
      const capabilities = name === "c" ? last : { context_reuse: true };
      const url = `${server.url}/${name}/a2a`;
      const interfaces = [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
      sendJson(response, card({ name, interfaces, params: { capabilities, delegates } }));
    });
    return server.url;
  };

  test("finds the chain usable if every agent is usable, and lists the links", async () => {
    const url = await agents({ context_reuse: true });
    const args = ["discover", `${url}/a`, "--end-to-end", "context_reuse"];
    const { chain, status } = await bench.json(...args);
    expect(status).toBe(0);
    expect(chain).toEqual(["a", "b", "c"].map((name, index) => ({ index, url: `${url}/${name}` })));
    expect(await bench.output(...args)).toMatch(
      /\n {2}link 1 {5}http.*\/b\n {2}link 2 {5}http.*\/c$/,
    );
  });

  test("refuses the chain, and names the link that fails", async () => {
    const url = await agents({});
    const args = ["discover", `${url}/a`, "--chain", "--end-to-end", "context_reuse"];
    const { denials, link, status } = await bench.json(...args);
    expect([status, link]).toEqual([1, { index: 2, url: `${url}/c` }]);
    expect(denials).toMatchObject([{ code: "capability_undeclared", link }]);
    const { stdout } = await bench.run(args);
    expect(stdout).toContain(`[link 2, ${url}/c]`);
  });
});

describe("a wrong discover command is a usage error", () => {
  test.each<[args: readonly string[], message: RegExp]>([
    [["--grant", "retrieve"], /--grant retrieve names no operation of a grant/],
    [["--grant", "documents:read"], /--grant documents:read names no operation of a grant/],
    [["--grant", "documents:read:"], /names no operation of a grant/],
    [
      ["--require", "streaming_mesage"],
      /called "streaming_mesage".*did you mean "streaming_message"\?\n.*card registry lists them/,
    ],
    [["--protocol", "one"], /protocolVersion: expected a version/],
    [["--allow-host", "localhost"], /HOST:PORT/],
    [["--jwks", "keys.json"], /jwksUrl does not begin with https/],
    [["--binding", "SOAP"], /Allowed choices are JSONRPC, HTTP\+JSON, GRPC/],
  ])("%j", async (args, message) => {
    const { status, stderr } = await bench.run(["discover", agent.url, ...args]);
    expect([status, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});

describe("discover on a card from a file", () => {
  const older = (members: object): string => {
    const { supportedInterfaces: _, ...others } = Object(card());
    return JSON.stringify({ ...others, url: "https://old.example", ...members });
  };
  const judged = (...args: readonly string[]) => bench.run(["discover", ...args]);

  test("judges the card by --require and by --end-to-end", async () => {
    bench.write("card.json", JSON.stringify(card({ params: { delegates: [] } })));
    for (const more of [[], ["--require", "streaming"], ["--end-to-end", "streaming"]]) {
      const { status, stdout } = await judged("card.json", ...more);
      expect([status, stdout]).toEqual([0, expect.stringMatching(/^usable\n/)]);
    }
    for (const name of ["pushNotifications", "extendedAgentCard", "context_reuse"]) {
      expect((await judged("card.json", "--require", name)).status).toBe(1);
    }
  });

  test("refuses a card of A2A 0.3, and names the option that accepts that version", async () => {
    bench.write("old.json", older({ protocolVersion: "0.3.0" }));
    const { status, stdout } = await judged("old.json");
    expect([status, stdout]).toEqual([1, expect.stringContaining("--protocol 0.3 asks for what")]);
    expect((await judged("old.json", "--protocol", "0.3")).status).toBe(0);
  });

  test("refuses a card without an A2A version, and names an option or command that helps", async () => {
    bench.write("oldest.json", older({}));
    const { stdout } = await judged("oldest.json", "--protocol", "0.3");
    const [, version = ""] = /--protocol (\S+) asks/.exec(stdout) ?? [];
    expect((await judged("oldest.json", "--protocol", version)).status).toBe(0);
    bench.write(
      "nameless.json",
      JSON.stringify(
        card({ interfaces: [{ url: "https://a.example", protocolBinding: "JSONRPC" }] }),
      ),
    );
    expect((await judged("nameless.json")).stdout).toContain("proviso card lint shows");
  });

  test('refuses a card without "delegates" if the required capability needs the list, and names the property', async () => {
    bench.write("silent.json", JSON.stringify(card({ capabilities: { context_reuse: true } })));
    const { status, stdout } = await judged("silent.json", "--require", "context_reuse");
    expect([status, stdout]).toEqual([1, expect.stringContaining('"delegates" in the')]);
  });

  test.each<[about: string, text: string | undefined, status: number, said: RegExp]>([
    ["a missing file", undefined, 6, /absent\.json: there is no such file/],
    ["text that is not JSON", "{", 1, /card_not_json/],
    ["a property twice", '{"name":"a","name":"b"}', 1, /card_malformed.*twice/],
  ])("refuses %s", async (_, text, status, said) => {
    if (text !== undefined) bench.write("some.json", text);
    const run = await judged(text === undefined ? "absent.json" : "some.json");
    expect([run.status, run.stdout + run.stderr]).toEqual([status, expect.stringMatching(said)]);
  });
});
