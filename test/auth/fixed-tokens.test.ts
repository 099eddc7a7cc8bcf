import { expect, test } from "vitest";
import {
  createFixedTokens,
  type FixedToken,
  type FixedTokensOptions,
} from "../../src/auth/fixed-tokens.js";
import { denialWith, requestWith } from "./support.js";

const ALICE: FixedToken = {
  token: "dev-alice-0123456789",
  principal: "alice",
  invoker: "orchestrator",
};
const BOB: FixedToken = { token: "dev-bob-0123456789==", principal: "bob", invoker: "calendar" };
const options: FixedTokensOptions = { development: true, announce: () => {} };

test("createFixedTokens identifies the caller of each token", async () => {
  const authenticator = createFixedTokens([ALICE, BOB], options);
  for (const { token, principal, invoker } of [ALICE, BOB]) {
    const result = await authenticator.authenticate(requestWith(`Bearer ${token}`));
    expect(result).toEqual({ ok: true, caller: { principal, invoker } });
  }
});

test.each([
  ["an unknown token", "dev-mallory-0123456789"],
  ["the beginning of a token", ALICE.token.slice(0, -1)],
  ["a token with one character more", `${ALICE.token}0`],
  ["a token in capitals", ALICE.token.toUpperCase()],
])("createFixedTokens answers token_invalid to %s", async (_, token) => {
  const authenticator = createFixedTokens([ALICE, BOB], options);
  const { code, message } = await denialWith(authenticator, token);
  expect(code).toBe("token_invalid");
  expect(message).toMatch(/development tokens/);
  expect(message).not.toContain(ALICE.token);
});

test("createFixedTokens answers token_missing to a request without a token", async () => {
  const result = await createFixedTokens([ALICE], options).authenticate(requestWith());
  expect(result.ok ? "" : result.denial.code).toBe("token_missing");
});

test("createFixedTokens prints one warning that names the callers and shows no token", async () => {
  const said: string[] = [];
  const announce = (message: string) => said.push(message);
  const authenticator = createFixedTokens([ALICE, BOB], { development: true, announce });
  await authenticator.authenticate(requestWith(`Bearer ${ALICE.token}`));
  expect(said).toHaveLength(1);
  expect(said[0]).toMatch(/^WARNING: .*alice through orchestrator, or bob through calendar/);
  expect(said[0]).toMatch(/[Nn]ever use them in production/);
  for (const { token } of [ALICE, BOB]) expect(said[0]).not.toContain(token);
});

test("createFixedTokens throws unless the option development is true", () => {
  for (const development of [false, undefined, "yes", 1]) {
    const wrong = JSON.parse(JSON.stringify({ development }));
    expect(() => createFixedTokens([ALICE], { announce: () => {}, ...wrong })).toThrow(
      new TypeError("options.development must be true: fixed tokens are for development"),
    );
  }
});

test.each<[string, unknown, string]>([
  ["an empty list", [], "tokens: must be an array"],
  [
    "a short token",
    [{ ...ALICE, token: "0123456789abcde" }],
    "tokens[0].token: must be a string of",
  ],
  [
    "a token that is not a string",
    [{ ...ALICE, token: 1 }],
    "tokens[0].token: must be a string of",
  ],
  [
    "a token with a space",
    [ALICE, { ...BOB, token: "0123456789 abcdef" }],
    "tokens[1].token: must be a bearer",
  ],
  ["a long token", [{ ...ALICE, token: "a".repeat(9000) }], "tokens[0].token: must be a bearer"],
  [
    "the same token twice",
    [ALICE, { ...BOB, token: ALICE.token }],
    "tokens[1].token: is that of tokens[0]",
  ],
  [
    "a token without a principal",
    [{ ...ALICE, principal: "" }],
    "tokens[0].principal: must be a string",
  ],
  [
    "a token without an invoker",
    [{ token: ALICE.token, principal: "a" }],
    "tokens[0].invoker: must be a string",
  ],
  [
    "an invoker with a line break",
    [{ ...ALICE, invoker: "a\nb" }],
    "tokens[0].invoker: must be a string",
  ],
  [
    "an entry that is not an object",
    [null],
    "tokens[0] must be a plain object with token, principal, invoker, not null",
  ],
])(
  "createFixedTokens refuses %s with a message that names the property and shows no token",
  (_, tokens, expected) => {
    let message = "";
    try {
      createFixedTokens(JSON.parse(JSON.stringify(tokens)), options);
    } catch (error) {
      if (error instanceof TypeError) message = error.message;
    }
    expect(message).toContain(expected);
    for (const token of [ALICE.token, "0123456789abcde", "0123456789 abcdef", "aaaa"]) {
      expect(message).not.toContain(token);
    }
  },
);

test("createFixedTokens returns a frozen caller", async () => {
  const authenticator = createFixedTokens([ALICE], options);
  const result = await authenticator.authenticate(requestWith(`Bearer ${ALICE.token}`));
  expect(result.ok && Object.isFrozen(result.caller)).toBe(true);
});
