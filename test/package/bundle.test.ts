import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { createIssuer, createKeyring, createRevocationList } from "../../src/issuer/index.js";

// The entry for holders and the entry for Fetch must run without Node. These tests bundle the built package for
// a browser, and run the bundle with only the globals of the web.

async function bundle(source: string): Promise<string> {
  const result = await build({
    stdin: { contents: source, resolveDir: new URL("../..", import.meta.url).pathname },
    bundle: true,
    minify: true,
    write: false,
    platform: "browser",
    format: "iife",
    globalName: "result",
    logLevel: "silent",
  });
  return result.outputFiles[0]?.text ?? "";
}

function runWithoutNode(code: string, globals: Record<string, unknown> = {}): unknown {
  const context = createContext({ TextEncoder, TextDecoder, crypto, Uint8Array, ...globals });
  return runInContext(`${code}; result`, context);
}

it("the main entry attenuates and inspects without Node's globals and modules", async () => {
  const options = { name: "a", keys: createKeyring(), revocations: createRevocationList() };
  const issuer = createIssuer(options);
  const { token } = issuer.mint({ grant: "g", operations: ["get", "put"] });
  const code = await bundle(`
    import { attenuate, createNonce, inspect } from "proviso";
    const child = attenuate(token, { operations: ["get"], nonce: createNonce() });
    export const narrowed = child.token;
    export const operations = inspect(child.token).authority.operations.join();
  `);
  const result = runWithoutNode(code, { token });
  expect(result).toMatchObject({ operations: "get" });
  const { narrowed } = result as { narrowed: string };
  expect(issuer.authorize(narrowed, { grant: "g", operation: "get" }).allowed).toBe(true);
  expect(issuer.authorize(narrowed, { grant: "g", operation: "put" }).allowed).toBe(false);
});

it("proviso/macaroon verifies macaroons without Node's globals and modules", async () => {
  const code = await bundle(`
    import { createMacaroon, createRootKey, verifyMacaroon } from "proviso/macaroon";
    const key = createRootKey(Uint8Array.of(1, 2, 3));
    export const { ok } = verifyMacaroon(createMacaroon(key, { identifier: "a" }), key, { check: () => false });
  `);
  expect(runWithoutNode(code)).toMatchObject({ ok: true });
});

it("proviso/fetch checks requests without Node's globals and modules", async () => {
  const code = await bundle(`
    import { createCapabilityMiddleware } from "proviso/fetch";
    import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
    const options = { name: "a", keys: createKeyring(), revocations: createRevocationList() };
    const issuer = createIssuer(options);
    const requires = createCapabilityMiddleware(issuer);
    export const { token } = issuer.mint({ grant: "g", operations: ["get"] });
    export const get = requires({ grant: "g", operation: "get" }, () => new Response("here"));
    export const put = requires({ grant: "g", operation: "put" }, () => new Response("never"));
  `);
  const result = runWithoutNode(code, { Request, Response });
  const { token, get, put } = result as Record<"get" | "put", typeof fetch> & { token: string };
  const request = new Request("https://a.example", { headers: { "Proviso-Capability": token } });
  expect(await (await get(request)).text()).toBe("here");
  expect((await put(request)).status).toBe(403);
});

it("the main entry is tree-shaken: unused exports are not bundled", async () => {
  const all = await bundle(`export * from "proviso";`);
  const one = await bundle(`export { createNonce } from "proviso";`);
  expect(all.length).toBeGreaterThan(10_000);
  expect(one.length).toBeLessThan(2_000);
});

it.each([
  ["index.js", 20],
  ["middleware/fetch.js", 10],
])("%s reaches no Node module in its whole import graph", async (entry, least) => {
  const result = await build({
    entryPoints: [new URL(`../../dist/src/${entry}`, import.meta.url).pathname],
    bundle: true,
    write: false,
    platform: "neutral",
    metafile: true,
    logLevel: "silent",
  });
  const inputs = Object.keys(result.metafile.inputs);
  expect(inputs.length).toBeGreaterThan(least);
  expect(inputs.filter((file) => /^node:|libsql|commander/.test(file))).toEqual([]);
  for (const file of inputs.filter((name) => name.startsWith("dist/"))) {
    expect(readFileSync(file, "utf8"), file).not.toMatch(/from "(node:|fs|path|crypto|libsql)/);
  }
});
