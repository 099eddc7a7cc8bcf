import { expect, test } from "vitest";
import type { Authenticator, Caller } from "../../src/agent/caller.js";
import { createJwtAuthenticator } from "../../src/auth/jwt-authenticator.js";
import { denialWith, ISSUER, RESOURCE, requestWith, type Signer, signer } from "./support.js";

function checking({ jwk }: Signer, clock: () => number = Date.now): Promise<Authenticator> {
  const jwks = { keys: [jwk] };
  return createJwtAuthenticator({ issuer: ISSUER, audience: RESOURCE, jwks, clock });
}

/** Returns the caller that a token names. If the token is not verified again, returns the same object as before. */
async function callerOf(authenticator: Authenticator, token: string): Promise<Caller> {
  const result = await authenticator.authenticate(requestWith(`Bearer ${token}`));
  if (!result.ok) throw new Error(result.denial.message);
  return result.caller;
}

test("past 1,000 cached tokens, the least recently used token is verified again", async () => {
  const good = await signer();
  const authenticator = await checking(good);
  const [first, second] = [await good.sign({ jti: "first" }), await good.sign({ jti: "second" })];
  const callers = [await callerOf(authenticator, first), await callerOf(authenticator, second)];
  for (let at = 0; at < 998; at += 1) {
    await callerOf(authenticator, await good.sign({ jti: `${at}` }));
  }
  expect(await callerOf(authenticator, first)).toBe(callers[0]);
  await callerOf(authenticator, await good.sign({ jti: "one too many" }));
  expect(await callerOf(authenticator, first)).toBe(callers[0]);
  expect(await callerOf(authenticator, second)).not.toBe(callers[1]);
});

test("a cached token is verified again after a minute, and when the clock is set back", async () => {
  const good = await signer();
  const start = Date.now();
  let now = start;
  const authenticator = await checking(good, () => now);
  const token = await good.sign();
  const caller = await callerOf(authenticator, token);
  now = start + 59_999;
  expect(await callerOf(authenticator, token)).toBe(caller);
  now = start + 60_000;
  const again = await callerOf(authenticator, token);
  expect(again).not.toBe(caller);
  now = start + 59_999;
  expect(await callerOf(authenticator, token)).not.toBe(again);
});

test("a refusal is not cached: a token issued in the future is accepted as soon as it is valid", async () => {
  const good = await signer();
  let now = Date.now();
  const authenticator = await checking(good, () => now);
  const iat = Math.floor(now / 1000) + 30;
  const token = await good.sign({ iat });
  expect((await denialWith(authenticator, token)).message).toContain("in the future");
  now += 30_000;
  expect(await callerOf(authenticator, token)).toEqual({
    principal: "alice",
    invoker: "orchestrator",
  });
});
