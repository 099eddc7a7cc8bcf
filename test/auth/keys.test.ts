import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Authenticator } from "../../src/agent/caller.js";
import { createJwtAuthenticator } from "../../src/auth/jwt-authenticator.js";
import type { KeySourceOptions } from "../../src/auth/jwt-options.js";
import { KeysUnavailableError } from "../../src/auth/key-source.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import {
  authorizationServer,
  denialWith,
  ISSUER,
  RESOURCE,
  requestWith,
  signer,
} from "./support.js";

function checking(jwks: string | URL, options: KeySourceOptions = {}): Promise<Authenticator> {
  return createJwtAuthenticator({ issuer: ISSUER, audience: RESOURCE, jwks, ...options });
}

/** Returns the error that says that the keys are unavailable. */
async function unavailable(action: Promise<unknown>): Promise<KeysUnavailableError> {
  const error: unknown = await action.then(
    (value) => new Error(`gave ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof KeysUnavailableError) return error;
  throw error;
}

async function serve(answer: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return { server, url: `http://127.0.0.1:${address.port}/jwks?key=secret` };
}

test("keys are not fetched before the first call, and only once for concurrent calls", async () => {
  const server = await authorizationServer();
  const { issuer, jwksUri } = server;
  const authenticator = await createJwtAuthenticator({ issuer, audience: RESOURCE, jwks: jwksUri });
  expect(server.jwksFetches).toBe(0);
  const tokens = [
    await server.clientToken("calendar"),
    await server.clientToken("orchestrator"),
    await server.tokenFor("alice", "calendar"),
  ];
  const calls = [...tokens, ...tokens].map((token) =>
    authenticator.authenticate(requestWith(`Bearer ${token}`)),
  );
  expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true);
  expect(server.jwksFetches).toBe(1);
});

test("a new key is fetched when a token names the key, and a removed key is no longer accepted", async () => {
  const server = await authorizationServer();
  const { issuer, jwksUri: jwks } = server;
  const options = { issuer, audience: RESOURCE, jwks, jwksCooldown: 0 };
  const authenticator = await createJwtAuthenticator(options);
  const [used, unused] = [
    await server.clientToken("calendar"),
    await server.clientToken("calendar"),
  ];
  expect((await authenticator.authenticate(requestWith(`Bearer ${used}`))).ok).toBe(true);
  await server.rotateKeys();
  const fresh = await server.clientToken("calendar");
  expect((await authenticator.authenticate(requestWith(`Bearer ${fresh}`))).ok).toBe(true);
  expect(server.jwksFetches).toBe(2);
  expect((await denialWith(authenticator, unused)).message).toContain('("kid")');
});

test("tokens with unknown keys do not cause a fetch at each call", async () => {
  const server = await authorizationServer();
  const { issuer, jwksUri: jwks } = server;
  const authenticator = await createJwtAuthenticator({ issuer, audience: RESOURCE, jwks });
  const mallory = await signer();
  for (let call = 0; call < 5; call += 1) {
    expect((await denialWith(authenticator, await mallory.sign())).message).toContain('("kid")');
  }
  expect(server.jwksFetches).toBe(1);
});

test("a verified token is cached for a minute, and then verified again with the current keys", async () => {
  const server = await authorizationServer();
  const { issuer, jwksUri: jwks } = server;
  let now = Date.now();
  const options = { issuer, audience: RESOURCE, jwks, jwksCooldown: 0, jwksMaxAge: 0 };
  const authenticator = await createJwtAuthenticator({ ...options, clock: () => now });
  const token = await server.clientToken("calendar");
  expect((await authenticator.authenticate(requestWith(`Bearer ${token}`))).ok).toBe(true);
  await server.rotateKeys();
  now += 59_999;
  expect((await authenticator.authenticate(requestWith(`Bearer ${token}`))).ok).toBe(true);
  now += 1;
  expect((await denialWith(authenticator, token)).message).toContain('("kid")');
});

test("if the authorization server is down, the error names the key server and does not blame the token", async () => {
  const server = await authorizationServer();
  const { issuer, jwksUri: jwks } = server;
  const authenticator = await createJwtAuthenticator({ issuer, audience: RESOURCE, jwks });
  const token = await server.clientToken("calendar");
  await server.close();
  const { message } = await unavailable(authenticator.authenticate(requestWith(`Bearer ${token}`)));
  expect(message).toBe(`no keys can be had from ${jwks}: ECONNREFUSED`);
});

test("known keys stay in use while new keys cannot be fetched", async () => {
  const [good, other] = [await signer(), await signer()];
  let up = true;
  const { url } = await serve((_, response) => {
    if (up) response.end(JSON.stringify({ keys: [good.jwk] }));
    else response.destroy();
  });
  const authenticator = await checking(url, { jwksCooldown: 0 });
  expect((await authenticator.authenticate(requestWith(`Bearer ${await good.sign()}`))).ok).toBe(
    true,
  );
  up = false;
  await unavailable(authenticator.authenticate(requestWith(`Bearer ${await other.sign()}`)));
  const another = await good.sign({ sub: "bob" });
  expect((await authenticator.authenticate(requestWith(`Bearer ${another}`))).ok).toBe(true);
});

test("calls fail with an error while the authorization server cannot be reached, and succeed when the server is back", async () => {
  const good = await signer();
  const { server, url } = await serve((_, response) => {
    response.end(JSON.stringify({ keys: [good.jwk] }));
  });
  const port = Number(new URL(url).port);
  await new Promise((closed) => server.close(closed));
  const authenticator = await checking(url);
  const bearer = `Bearer ${await good.sign()}`;
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { message, source } = await unavailable(authenticator.authenticate(requestWith(bearer)));
  expect(message).toMatch(/: ECONNREFUSED$/);
  expect(source).toBe(`http://127.0.0.1:${port}/jwks`);
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  // A failed fetch is not retried within a second.
  expect((await unavailable(authenticator.authenticate(requestWith(bearer)))).message).toBe(
    message,
  );
  vi.advanceTimersByTime(1100);
  expect((await authenticator.authenticate(requestWith(bearer))).ok).toBe(true);
});

test.each<[string, RequestListener]>([
  ["it answers 500", (_, response) => void response.writeHead(500).end("{}")],
  ["it answers 302", (_, response) => void response.writeHead(302, { location: "/" }).end()],
  ["it is not JSON", (_, response) => void response.end("<html>")],
  ["it is not a JWK Set", (_, response) => void response.end("[]")],
  ["it has no key", (_, response) => void response.end('{"keys":[]}')],
  [
    '"keys" is there twice',
    (_, response) => void response.end('{"keys":[{"kty":"oct"}],"keys":[]}'),
  ],
  ["is not a public key", (_, response) => void response.end('{"keys":[{"kty":"oct","k":"a"}]}')],
  ["no answer in time", () => {}],
  ["no answer in time", (_, response) => void response.write("{")],
])("the error for a bad answer of the key server says: %s", async (reason, answer) => {
  const { url } = await serve(answer);
  const authenticator = await checking(url, { jwksTimeout: reason.endsWith("in time") ? 0.2 : 20 });
  const token = await (await signer()).sign();
  const { message } = await unavailable(authenticator.authenticate(requestWith(`Bearer ${token}`)));
  expect(message).toContain(reason);
  expect(message).not.toContain("secret");
});

test("when a key file changes, its new key is used, and a cached token of the old key is refused", async () => {
  const path = join(temporaryFolder(), "jwks.json");
  const [before, after] = [await signer(), await signer()];
  writeFileSync(path, JSON.stringify({ keys: [before.jwk] }));
  const authenticator = await checking(path, { refreshEvery: 0 });
  const [old, fresh] = [await before.sign(), await after.sign()];
  expect((await authenticator.authenticate(requestWith(`Bearer ${old}`))).ok).toBe(true);
  expect((await denialWith(authenticator, fresh)).message).toContain('("kid")');

  writeFileSync(`${path}.new`, JSON.stringify({ keys: [after.jwk] }));
  renameSync(`${path}.new`, path);
  expect((await authenticator.authenticate(requestWith(`Bearer ${fresh}`))).ok).toBe(true);
  expect((await denialWith(authenticator, old)).message).toContain('("kid")');
});

test("while a key file is missing or damaged, no token is accepted", async () => {
  const path = join(temporaryFolder(), "jwks.json");
  const good = await signer();
  const text = JSON.stringify({ keys: [good.jwk] });
  writeFileSync(path, text);
  const authenticator = await checking(pathToFileURL(path), { refreshEvery: 0 });
  const bearer = `Bearer ${await good.sign()}`;
  expect((await authenticator.authenticate(requestWith(bearer))).ok).toBe(true);
  rmSync(path);
  const gone = await unavailable(authenticator.authenticate(requestWith(bearer)));
  expect(gone.message).toBe(`no keys can be had from ${path}: there is no such file`);
  writeFileSync(path, text.slice(0, -1));
  expect((await unavailable(authenticator.authenticate(requestWith(bearer)))).message).toContain(
    "not JSON",
  );
  writeFileSync(path, text);
  expect((await authenticator.authenticate(requestWith(bearer))).ok).toBe(true);
});

test("between two checks of a key file, the keys that were read stay in use", async () => {
  const path = join(temporaryFolder(), "jwks.json");
  const good = await signer();
  writeFileSync(path, JSON.stringify({ keys: [good.jwk] }));
  const authenticator = await checking(pathToFileURL(path).href, { refreshEvery: 60_000 });
  rmSync(path);
  expect((await authenticator.authenticate(requestWith(`Bearer ${await good.sign()}`))).ok).toBe(
    true,
  );
});

test("createJwtAuthenticator fails if the key file cannot be read", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "jwks.json");
  expect((await unavailable(checking(path))).source).toBe(path);
  expect((await unavailable(checking(folder))).message).toContain("not a regular file");
  writeFileSync(path, `{"keys":[]}${" ".repeat(1024 * 1024)}`);
  expect((await unavailable(checking(path))).message).toContain("larger than 1 MiB");
  rmSync(path);
  mkdirSync(path);
  expect((await unavailable(checking(path))).message).toContain("not a regular file");
});

test("an unusable key in the key file is reported as an error of the file, not of the token", async () => {
  const path = join(temporaryFolder(), "jwks.json");
  const good = await signer();
  writeFileSync(path, JSON.stringify({ keys: [{ ...good.jwk, x: "AAAA" }] }));
  const authenticator = await checking(path);
  const { source } = await unavailable(
    authenticator.authenticate(requestWith(`Bearer ${await good.sign()}`)),
  );
  expect(source).toBe(path);
});
