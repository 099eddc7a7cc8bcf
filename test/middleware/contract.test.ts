import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createKeyring, createRevocationList, type MintRequest } from "../../src/issuer/index.js";
import { addThirdPartyCaveat, macaroonToText, parseMacaroon } from "../../src/macaroon/index.js";
import type { CapabilityAuthority } from "../../src/middleware/fetch.js";
import { append, attenuated, fixture, NOW, utf8 } from "../capability/support.js";
import { type Answer, type Headers, type ResourceServer, SERVERS } from "./servers.js";

// The contract that every adapter for a resource server keeps.

const HEADER = "Proviso-Capability";
const MINUTE = 60_000;
let now = NOW;
const clock = (): number => now;
const original = createRevocationList();
/** The revocation list that the resource server follows. The server may trust it for an hour. */
const revocations = createRevocationList(original.snapshot("2030-01-01T01:00:00Z"));
const { issuer } = fixture({ clock, revocations, name: "documents", audience: "documents" });

const GRANT: MintRequest = {
  grant: "documents:read",
  operations: ["retrieve"],
  resourceHandles: ["rh_1", "rh_2"],
  principal: "alice",
  expires: "2030-01-01T12:00:00Z",
};
const minted = (request: Partial<MintRequest> = {}): string =>
  issuer.mint({ ...GRANT, ...request }).token;
const token = minted();
const child = attenuated(token, { resourceHandles: ["rh_1"] });
const damaged = `${token.slice(0, -4)}${token.endsWith("AAAA") ? "BBBB" : "AAAA"}`;
const elsewhere = fixture({ clock, name: "elsewhere" }).issuer.mint(GRANT).token;
const otherKeys = createKeyring();
const otherKey = fixture({ clock, name: "documents", keys: otherKeys }).issuer.mint(GRANT).token;
const undischarged = macaroonToText(
  addThirdPartyCaveat(parseMacaroon(token), { key: utf8("shared"), identifier: "q" }),
);
const tooLarge = "x"
  .repeat(32)
  .split("")
  .reduce((text, purpose) => append(text, JSON.stringify({ purpose })), token);
const bound = minted({ invokers: ["assistant"] });

const own = (value: string | readonly string[]): Headers => ({ [HEADER]: value });
const login = (agent: string): Headers => ({ Authorization: `Login ${agent}` });
const bearer = (value: string): Headers => ({ Authorization: `Bearer ${value}` });

describe.each(SERVERS)("on %s", (name, start) => {
  let server: ResourceServer;
  let authority: CapabilityAuthority;

  beforeAll(async () => {
    server = await start({ authorize: (...call) => authority.authorize(...call) });
  });
  afterAll(() => server.close());
  beforeEach(() => {
    now = NOW;
    authority = issuer;
    server.handled.length = 0;
    server.failures.length = 0;
  });

  /**
   * Makes a request that must be refused. Expects that no handler runs, and that the answer does not contain
   * the token.
   */
  async function refused(path: string, headers: Headers): Promise<Answer> {
    const answer = await server.ask(path, headers);
    expect(server.handled).toEqual([]);
    const sent = Object.values(headers).flat().join(" ").split(/[ ,]/);
    for (const secret of sent.filter(({ length }) => length > 32)) {
      expect(JSON.stringify(answer)).not.toContain(secret.slice(0, 24));
      expect(JSON.stringify(answer)).not.toContain(secret.slice(-24));
    }
    return answer;
  }

  describe("a request is allowed", () => {
    test.each<[string, string, Headers, number]>([
      ["with a capability in Proviso-Capability", "documents/rh_2", own(token), 1],
      ["with a capability that its holder narrowed offline", "documents/rh_1", own(child), 2],
      [
        "with a capability beside the app's login",
        "documents/rh_1",
        { ...own(token), ...login("other") },
        1,
      ],
      [
        "by the invoker that the capability names",
        "documents/rh_1",
        { ...own(bound), ...login("assistant") },
        1,
      ],
      ["with a bearer token on a bearer route", "bearer/rh_1", bearer(token), 1],
      [
        "with the scheme Bearer in mixed case",
        "bearer/rh_1",
        { Authorization: `bEARER  ${token}` },
        1,
      ],
      [
        "with the same token in both headers",
        "bearer/rh_1",
        { ...bearer(token), ...own(token) },
        1,
      ],
      ["with a capability in Proviso-Capability on a bearer route", "bearer/rh_1", own(token), 1],
      [
        "with a capability beside a login, on a bearer route",
        "bearer/rh_1",
        { ...own(token), ...login("other") },
        1,
      ],
    ])("%s", async (_, path, headers, hops) => {
      const { status, text, headers: got } = await server.ask(`/${path}`, headers);
      const [route = "", id] = path.split("/");
      expect([status, JSON.parse(text)]).toEqual([200, { id, principal: "alice", hops }]);
      expect(server.handled).toEqual([route]);
      expect(got["cache-control"]).toBe("private, no-cache");
      expect(got["vary"]).toContain("Proviso-Capability");
      expect(got["www-authenticate"]).toBeUndefined();
    });

    test("and the handler may set its own Cache-Control", async () => {
      const { status, headers } = await server.ask("/own-cache/rh_1", own(token));
      expect([status, headers["cache-control"]]).toEqual([200, "public, max-age=60"]);
      // Without this header, a shared cache would serve the answer to clients without the capability.
      expect(headers["vary"]).toContain("Proviso-Capability");
    });
  });

  describe("a request is refused, with every reason,", () => {
    const late = minted({ expires: "2030-01-01T00:00:01Z" });
    test.each<[string, string, Headers, 401 | 403, readonly string[]]>([
      ["without a capability", "documents/rh_1", {}, 401, ["capability_missing"]],
      [
        "with only the app's own login",
        "documents/rh_1",
        login("assistant"),
        401,
        ["capability_missing"],
      ],
      [
        "with a bearer token on a route that reads none",
        "documents/rh_1",
        bearer(token),
        401,
        ["capability_missing"],
      ],
      ["without a bearer token on a bearer route", "bearer/rh_1", {}, 401, ["capability_missing"]],
      [
        "with another scheme than Bearer",
        "bearer/rh_1",
        { Authorization: "Basic YQ==" },
        401,
        ["capability_missing"],
      ],
      ["with text that is not a token", "documents/rh_1", own("a.b.c"), 401, ["token_malformed"]],
      ["with half a token", "documents/rh_1", own(token.slice(0, 60)), 401, ["token_truncated"]],
      ["with too many hops", "documents/rh_1", own(tooLarge), 401, ["token_too_large"]],
      ["with an altered token", "documents/rh_1", own(damaged), 401, ["signature_mismatch"]],
      ["with an altered bearer token", "bearer/rh_1", bearer(damaged), 401, ["signature_mismatch"]],
      ["with another issuer's token", "documents/rh_1", own(elsewhere), 401, ["foreign_issuer"]],
      ["with a token of an unknown key", "documents/rh_1", own(otherKey), 401, ["unknown_key"]],
      [
        "without the token's discharge",
        "documents/rh_1",
        own(undischarged),
        401,
        ["discharge_missing"],
      ],
      ["after the token has expired", "documents/rh_1", own(late), 401, ["expired"]],
      [
        "before the token is valid",
        "documents/rh_1",
        own(minted({ notBefore: "2030-01-01T02:00:00Z" })),
        401,
        ["not_yet_valid"],
      ],
      [
        "with a token for another operation",
        "documents/rh_1",
        own(minted({ operations: ["search"] })),
        403,
        ["operation_denied"],
      ],
      [
        "with a token of another grant",
        "documents/rh_1",
        own(minted({ grant: "mail:read" })),
        403,
        ["grant_denied"],
      ],
      ["with a token for another resource", "documents/rh_2", own(child), 403, ["resource_denied"]],
      [
        "with a token for another service",
        "documents/rh_1",
        own(minted({ audience: ["mail"] })),
        403,
        ["audience_denied"],
      ],
      [
        "with an argument over a limit",
        "documents/rh_1?limit=9",
        own(minted({ constraints: { limit: { max: 5 } } })),
        403,
        ["constraint_violated"],
      ],
      [
        "without a limited argument",
        "documents/rh_1",
        own(minted({ constraints: { limit: { max: 5 } } })),
        403,
        ["constraint_violated"],
      ],
      [
        "with a token bound to an invoker, without a login",
        "documents/rh_1",
        own(bound),
        403,
        ["invoker_denied"],
      ],
      [
        "with a token bound to another invoker",
        "documents/rh_1",
        { ...own(bound), ...login("other") },
        403,
        ["invoker_denied"],
      ],
      [
        "with a token bound to an invoker, on a route that reads no invoker",
        "bearer/rh_1",
        { ...own(bound), ...login("assistant") },
        403,
        ["invoker_denied"],
      ],
      [
        "for two reasons",
        "documents/rh_3",
        own(minted({ operations: ["search"] })),
        403,
        ["operation_denied", "resource_denied"],
      ],
      [
        "for another resource, with an expired token",
        "documents/rh_3",
        own(late),
        401,
        ["resource_denied", "expired"],
      ],
    ])("%s", async (_, path, headers, status, codes) => {
      now = NOW + MINUTE;
      const answer = await refused(`/${path}`, headers);
      const [route] = path.split("/");
      const missing = codes.includes("capability_missing");
      const error = missing
        ? "capability_missing"
        : { 401: "invalid_token", 403: "insufficient_scope" }[status];
      const body = JSON.parse(answer.text);
      expect({ status: answer.status, error: body.error }).toEqual({ status, error });
      expect(body.denials.map(({ code }: { code: string }) => code).sort()).toEqual(
        [...codes].sort(),
      );
      expect(body.message).toBe(body.denials[0].message);
      expect(answer.headers["proviso-denial"]?.split(",").sort()).toEqual([...codes].sort());
      const scheme = `${route === "bearer" ? "Bearer" : HEADER} realm="documents"`;
      expect(answer.headers["www-authenticate"]).toBe(
        missing ? scheme : `${scheme}, error="${error}"`,
      );
      expect(answer.headers).toMatchObject({
        "cache-control": "no-store",
        "content-type": "application/json",
      });
    });

    test("with the documented body and status for a forbidden and an unauthenticated request", async () => {
      const parameters = own(minted({ constraints: { limit: { max: 5 } } }));
      const forbidden = await refused("/documents/rh_1?limit=9", parameters);
      const message = 'argument "limit" must be a number of at most 5; it is 9';
      expect([forbidden.status, JSON.parse(forbidden.text)]).toEqual([
        403,
        {
          error: "insufficient_scope",
          message,
          denials: [
            {
              code: "constraint_violated",
              rule: "constraints.limit.max",
              hop: 1,
              message,
              expected: 5,
              actual: 9,
              nearest: 5,
              remedy: { kind: "set_argument", pointer: "/limit", value: 5 },
            },
          ],
        },
      ]);
      const unauthenticated = await refused("/documents/rh_1", {});
      const missing = `the request presents no capability; send one in the header ${HEADER}`;
      expect([unauthenticated.status, JSON.parse(unauthenticated.text)]).toEqual([
        401,
        {
          error: "capability_missing",
          message: missing,
          denials: [{ code: "capability_missing", rule: "capabilities", message: missing }],
        },
      ]);
    });
  });

  describe("a request with an ambiguous or malformed capability is answered 400:", () => {
    test.each<[string, string, Headers]>([
      ["two tokens in a header", "documents", own(`${token},${child}`)],
      ["two headers", "documents", own([token, child])],
      ["the same token in two headers", "documents", own([token, token])],
      ["a token and an empty item", "documents", own(`${token},`)],
      ["an empty header", "documents", own("")],
      ["a scheme in Proviso-Capability", "documents", own(`Bearer ${token}`)],
      [
        "JSON in the header",
        "documents",
        own('{"v":2,"i":"a","c":[],"s64":"8tc0EZ65teJ49km3J6ucaQ"}'),
      ],
      ["a header that is not ASCII", "documents", own("\u00e9\u00ff")],
      ["different tokens in both headers", "bearer", { ...bearer(token), ...own(child) }],
      [
        "a bearer token beside garbage in Proviso-Capability",
        "bearer",
        { ...bearer(token), ...own("a b") },
      ],
      ["Bearer without a token", "bearer", { Authorization: "Bearer" }],
      ["two words after Bearer", "bearer", bearer(`${token} ${child}`)],
      ["two bearer tokens", "bearer", { Authorization: [`Bearer ${token}`, `Bearer ${child}`] }],
      [
        "a login and a bearer token, each in its header",
        "bearer",
        { Authorization: ["Login a", `Bearer ${token}`] },
      ],
      [
        "a login, a bearer token and a token in Proviso-Capability",
        "bearer",
        { ...own(child), Authorization: ["Login a", `Bearer ${token}`] },
      ],
    ])("%s", async (_, route, headers) => {
      const { status, text, headers: got } = await refused(`/${route}/rh_1`, headers);
      const body = { error: "invalid_request", message: expect.any(String), denials: [] };
      expect([status, JSON.parse(text)]).toEqual([400, body]);
      const scheme = route === "bearer" ? "Bearer" : HEADER;
      expect(got["www-authenticate"]).toBe(`${scheme} realm="documents", error="invalid_request"`);
      expect(got["cache-control"]).toBe("no-store");
      expect(got["proviso-denial"]).toBeUndefined();
    });
  });

  test("a token revoked between two requests is refused from then on, and its sibling is still allowed", async () => {
    const parent = minted({ nonce: `${name}AAAAAAAAAAAAAAAA`.replace(/\W/g, "A").slice(0, 16) });
    const [one, two] = ["one", "two"].map((purpose) => attenuated(parent, { purpose }));
    expect((await server.ask("/documents/rh_1", own(one ?? ""))).status).toBe(200);
    const revocation = issuer.revocationOf(one ?? "");
    if (!revocation.ok) throw new Error(revocation.denial.message);
    original.add(revocation.entry);
    revocations.replace(original.snapshot("2030-01-01T01:00:00Z"));
    const { status, headers } = await server.ask("/documents/rh_1", own(one ?? ""));
    expect([status, headers["proviso-denial"]]).toEqual([401, "revoked"]);
    expect((await server.ask("/documents/rh_1", own(two ?? ""))).status).toBe(200);
  });

  test("a request is answered 503 if the revocation list is too old, unless there is another reason to refuse", async () => {
    now = NOW + 61 * MINUTE;
    const { status, headers, text } = await refused("/documents/rh_1", own(token));
    expect([status, JSON.parse(text).error]).toEqual([503, "temporarily_unavailable"]);
    expect(headers).toMatchObject({
      "retry-after": "5",
      "proviso-denial": "revocation_stale",
      "cache-control": "no-store",
    });
    expect(headers["www-authenticate"]).toBeUndefined();
    const elsewhere = await refused("/documents/rh_3", own(token));
    expect([elsewhere.status, elsewhere.headers["proviso-denial"]]).toEqual([
      403,
      "revocation_stale,resource_denied",
    ]);
  });

  describe("a request whose requirement or authority fails", () => {
    test.each([
      "throws:error",
      "rejects:error",
      "throws:",
      "rejects:",
      "throws:route",
      "rejects:route",
      "throws:router",
      "rejects:router",
    ])("is answered 500 if the requirement fails: %s", async (how) => {
      const { status, text } = await refused(`/broken/${encodeURIComponent(how)}`, own(token));
      expect([status, text]).toEqual([500, '{"error":"internal_error"}']);
      expect(server.failures).toHaveLength(1);
    });

    test.each(["undefined", "null", '"rh_1"', "[1]", "{}", "7"])(
      "is answered 400 if the requirement reads %s as the handles",
      async (given) => {
        const path = `/broken/${encodeURIComponent(`gives:${given}`)}`;
        const { status, text } = await refused(path, own(token));
        expect(status).toBe(400);
        expect(JSON.parse(text)["message"]).toMatch(/^resourceHandles(?:\[0\])? must be /);
        expect(server.failures).toHaveLength(0);
      },
    );

    test("is answered 500 if the authority throws or returns something invalid", async () => {
      for (const answer of ["{}", "null", '{"allowed":false}', '{"allowed":false,"denials":[]}']) {
        authority = { authorize: () => JSON.parse(answer) };
        expect((await refused("/documents/rh_1", own(token))).status).toBe(500);
      }
      authority = {
        authorize() {
          throw new Error("the key file cannot be read");
        },
      };
      expect((await refused("/documents/rh_1", own(token))).status).toBe(500);
      expect(server.failures).toHaveLength(5);
    });
  });
});
