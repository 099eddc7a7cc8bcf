import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApprovalSubject } from "../../src/agent/parties/records.js";
import { attenuate } from "../../src/capability/attenuate.js";
import type { Hop } from "../../src/caveats/hop.js";
import { createIssuer, createRevocationList } from "../../src/issuer/index.js";
import { startConsole, type TestConsole } from "./support.js";
import { type Visitor, words } from "./visitor.js";

// A user limits arguments to folders and URLs, and forbids further arguments of an operation.

let console: TestConsole;
let alice: Visitor;

beforeAll(async () => {
  console = await startConsole();
  alice = await console.signedIn("alice");
});

afterAll(() => console.close());

const OPERATIONS = ["balance", "transfer"];
const SENT = { "g-0-granted": "yes", "g-0-keep": OPERATIONS };
const TO = { path: "g-0-2-path", url: "g-0-2-url", in: "g-0-2-in" };
const CLOSED = { balance: "g-0-closed-0", transfer: "g-0-closed-1" };
const CALL = { amount: 1, currency: "EUR", to: "data/a" };
let requests = 0;

/** Creates a request for two operations in Alice's list. */
async function waits(asked?: Hop): Promise<{ readonly id: string; readonly path: string }> {
  requests += 1;
  const subject: ApprovalSubject = {
    kind: "capabilities",
    request: `request-${requests}`,
    principal: "alice",
    lifetime: 3600,
    agent: { id: "assistant" },
    asked: [
      {
        grant: "payments:write",
        operations: OPERATIONS,
        hops: asked === undefined ? [] : [{ by: "agent", hop: asked }],
        description: "Transfer money",
      },
    ],
  };
  const opening = { subject, rule: {}, method: "backchannel", lifetime: 600 } as const;
  const opened = await console.parties.approvals.openAlone(opening, 100);
  if (!opened.ok) throw new Error(opened.denial.message);
  const { id } = opened.pending.approval;
  return { id, path: `/requests/${id}` };
}

type Fields = Readonly<Record<string, string | string[]>>;

/** Approves a request with these fields. Returns the resulting hop, and whether an issuer allows calls with it. */
async function approved(
  fields: Fields,
  asked?: Hop,
): Promise<{
  readonly hop: Hop | undefined;
  allows(operation: string, given: object): boolean;
}> {
  const { id, path } = await waits(asked);
  const page = await alice.post(path, { answer: "approve", ...SENT, ...fields }, path);
  expect(words(page.text)).toContain("You approved");
  const hop = (await console.parties.approvals.get(id))?.decisions[0]?.hops?.["0"];
  const issuer = createIssuer({
    name: "payments",
    keys: console.keys,
    revocations: createRevocationList(),
  });
  let { token } = issuer.mint({ grant: "payments:write", operations: OPERATIONS });
  for (const one of [asked, hop]) {
    if (one === undefined) continue;
    const narrowed = attenuate(token, one);
    if (!narrowed.ok) throw new Error("nothing is left");
    token = narrowed.token;
  }
  return {
    hop,
    allows: (operation, given) =>
      issuer.authorize(token, {
        grant: "payments:write",
        operation,
        arguments: { ...given },
      }).allowed,
  };
}

describe("a folder entered as a limit", () => {
  test("holds for each kept operation, even if the skill's schema lacks the argument", async () => {
    const { hop, allows } = await approved({ [TO.path]: " data " });
    expect(hop).toEqual({
      operationConstraints: {
        balance: { to: { optional: true, path: "data" } },
        transfer: { to: { path: "data" } },
      },
    });
    expect(allows("transfer", CALL)).toBe(true);
    for (const to of ["database", "data/../b", "a/data", 5]) {
      expect(allows("transfer", { ...CALL, to })).toBe(false);
      expect(allows("balance", { to })).toBe(false);
    }
    expect(allows("transfer", { amount: 1, currency: "EUR" })).toBe(false);
    expect(allows("balance", {})).toBe(true);
    expect(allows("balance", { to: "data" })).toBe(true);
  });

  test("combines with an excluded value for the same argument", async () => {
    const { hop, allows } = await approved({
      "g-0-keep": "transfer",
      [TO.path]: "data",
      "g-0-2-not": "data/secret",
      "g-0-0-max": "5",
    });
    expect(hop).toEqual({
      operations: ["transfer"],
      constraints: { amount: { max: 5 } },
      operationConstraints: { transfer: { to: { not_in: ["data/secret"], path: "data" } } },
    });
    expect(allows("transfer", CALL)).toBe(true);
    expect(allows("transfer", { ...CALL, to: "data/secret" })).toBe(false);
  });

  test("makes an argument required if the user enters the argument's name", async () => {
    const { allows } = await approved({
      "g-0-other-0-name": "file",
      "g-0-other-0-rule": "path",
      "g-0-other-0-values": "/data",
    });
    expect(allows("balance", { file: "/data/a" })).toBe(true);
    expect(allows("balance", { file: "/etc" })).toBe(false);
    expect(allows("balance", {})).toBe(false);
  });

  test("must lie below the folder in the request", async () => {
    const asked: Hop = { operationConstraints: { transfer: { to: { path: "data" } } } };
    const { allows } = await approved({ [TO.path]: "data/a" }, asked);
    expect(allows("transfer", CALL)).toBe(true);
    expect(allows("transfer", { ...CALL, to: "data/b" })).toBe(false);
    const { path } = await waits(asked);
    const fields = { answer: "approve", ...SENT, [TO.path]: "other" };
    const page = await alice.post(path, fields, path);
    expect(page.status).toBe(400);
    expect(page.text).toContain(`href="#${TO.path}"`);
    expect(words(page.text)).toContain(
      '"other" goes beyond what is asked for, a path under data: a limit can only take away.',
    );
  });
});

describe("URLs entered as a limit", () => {
  test("are read one per line, with wildcards as on the command line", async () => {
    const { hop, allows } = await approved({
      [TO.url]: "https://*.example.com/docs\r\n\r\nhttps://example.com/docs\r\n",
    });
    const url = { schemes: ["https"], hosts: [".example.com", "example.com"], path: "/docs" };
    expect(hop).toEqual({
      operationConstraints: {
        balance: { to: { optional: true, url } },
        transfer: { to: { url } },
      },
    });
    for (const to of ["https://a.example.com/docs/x?q=1", "https://example.com/docs"]) {
      expect(allows("transfer", { ...CALL, to })).toBe(true);
    }
    for (const to of ["http://example.com/docs", "https://example.com.evil.example/docs", "docs"]) {
      expect(allows("transfer", { ...CALL, to })).toBe(false);
      expect(allows("balance", { to })).toBe(false);
    }
  });

  test("apply to an argument that the user names", async () => {
    const { allows } = await approved({
      "g-0-other-1-name": "page",
      "g-0-other-1-rule": "url",
      "g-0-other-1-values": "http://127.0.0.1:8080",
    });
    expect(allows("balance", { page: "http://127.0.0.1:8080/x" })).toBe(true);
    expect(allows("balance", { page: "http://127.0.0.1/x" })).toBe(false);
  });

  test("beyond the URLs in the request are an error at their field", async () => {
    const url = { schemes: ["https"], hosts: ["a.example"] };
    const { path } = await waits({ operationConstraints: { transfer: { to: { url } } } });
    const fields = { answer: "approve", ...SENT, [TO.url]: "https://b.example" };
    const page = await alice.post(path, fields, path);
    expect(page.status).toBe(400);
    expect(page.text).toContain(`href="#${TO.url}"`);
    expect(words(page.text)).toContain(
      '"b.example" goes beyond what is asked for, a URL of https to a.example',
    );
  });
});

describe('the choice "no other arguments"', () => {
  test("allows only the schema's arguments for the ticked operation", async () => {
    const { hop, allows } = await approved({ [CLOSED.transfer]: "yes" });
    expect(hop).toEqual({ arguments: { transfer: ["amount", "currency", "to", "urgent"] } });
    expect(allows("transfer", CALL)).toBe(true);
    expect(allows("transfer", { ...CALL, bcc: "x" })).toBe(false);
    expect(allows("balance", { bcc: "x" })).toBe(true);
  });

  test("allows only the arguments of the request and the arguments that the user's limits require", async () => {
    const asked: Hop = {
      operationConstraints: {
        balance: { "/range/from": { min: 1 }, bcc: { absent: true }, depth: { max: 3 } },
      },
      arguments: { transfer: ["amount", "currency", "to"] },
    };
    const { path } = await waits(asked);
    const shown = words((await alice.get(path)).text);
    expect(shown).toContain("No other arguments of balance than account, range, depth");
    // The request itself allows no further arguments of transfer.
    expect(shown).not.toContain("No other arguments of transfer");
    const { hop, allows } = await approved(
      {
        "g-0-0-max": "5",
        "g-0-other-0-name": "note",
        "g-0-other-0-rule": "in",
        "g-0-other-0-values": "x",
        "g-0-keep": "balance",
        [CLOSED.balance]: "yes",
      },
      asked,
    );
    expect(hop?.arguments).toEqual({ balance: ["account", "depth", "note", "range"] });
    const call = { range: { from: 1 }, depth: 2, note: "x" };
    expect(allows("balance", call)).toBe(true);
    expect(allows("balance", { ...call, amount: 5 })).toBe(false);
    expect(allows("balance", { ...call, bcc: "x" })).toBe(false);
    expect(allows("balance", { ...call, other: 1 })).toBe(false);
  });

  test("is ignored for an operation that is not kept", async () => {
    const { hop } = await approved({ "g-0-keep": "balance", [CLOSED.transfer]: "yes" });
    expect(hop).toEqual({ operations: ["balance"] });
  });
});

test('the answer "check" shows the resulting limits, keeps the values of the fields, and decides nothing', async () => {
  const { id, path } = await waits();
  const fields = {
    [TO.path]: "data",
    "g-0-4-url": "https://a.example/x",
    [CLOSED.transfer]: "yes",
  };
  const page = await alice.post(path, { answer: "check", ...SENT, ...fields }, path);
  const shown = words(page.text);
  expect(page.status).toBe(200);
  expect(shown).toContain('to of transfer a path under "data"');
  expect(shown).toContain('to of balance a path under "data", or left out');
  expect(shown).toContain('account of balance a URL of "https" to "a.example", path under "/x"');
  expect(shown).toContain("Only arguments transfer: amount, currency, to, urgent");
  expect(page.text).toContain(`id="${TO.path}" name="${TO.path}" autocomplete="off" value="data"`);
  // A number has no field for a path. Listed values are checkboxes.
  expect(page.text).not.toMatch(/id="g-0-[013]-(path|url)"/);
  for (const name of [TO.path, TO.url, "g-0-4-path", "g-0-4-url", CLOSED.balance]) {
    expect(page.text).toContain(`<label for="${name}">`);
  }
  expect(page.text).toMatch(new RegExp(`id="${CLOSED.transfer}"[^>]* checked`));
  expect((await console.parties.approvals.get(id))?.state).toBe("pending");
});

describe("a wrong folder or URL is an error at its field, and nothing is decided", () => {
  const long = "a".repeat(1001);
  test.each([
    [
      "a folder that ends in /",
      TO.path,
      "data/",
      /"data\/" is not a folder; write it as in \/data/,
    ],
    ["a folder with ..", TO.path, "data/../x", /is not a folder/],
    ["a Windows path", TO.path, "C:\\data", /is not a folder/],
    ["a folder that is too long", TO.path, long, /at most 1000 characters/],
    [
      "text that is not a URL",
      TO.url,
      "a.example",
      /"a.example" is not a URL; write it as in https/,
    ],
    [
      "a URL of another scheme",
      TO.url,
      "ftp://a.example",
      /no limit on ftp URLs; the schemes are http/,
    ],
    ["a URL with a query", TO.url, "https://a.example/?q=1", /no query and no fragment/],
    ["a wildcard inside a host", TO.url, "https://*", /"\*" is not a host/],
    ["a host in capitals", TO.url, "https://A.example", /"A.example" is not a host/],
    ["a wrong port", TO.url, "https://a.example:70000", /"70000" is not a port/],
    ["a wildcard in a path", TO.url, "https://a.example/x*", /leave out the \*/],
    [
      "a folder in place of a URL",
      TO.url,
      "https://a.example/x/",
      /is not a folder of URLs; write https:\/\/a\.example\/x\./,
    ],
    [
      "URLs with different paths",
      TO.url,
      "https://a.example/x\nhttps://b.example/y",
      /have one path/,
    ],
    [
      "more URLs than allowed",
      TO.url,
      "https://a.example\nhttp://b.example",
      /This limit would allow https:\/\/b\.example:443 too/,
    ],
    ["a URL that is too long", TO.url, `https://a.example/${long}`, /at most 1000 characters/],
  ])("%s", async (_, field, value, message) => {
    const { id, path } = await waits();
    const page = await alice.post(path, { answer: "approve", ...SENT, [field]: value }, path);
    expect(page.status).toBe(400);
    expect(words(page.text)).toMatch(message);
    expect(page.text).toContain(`<a href="#${field}">`);
    expect(page.text).toMatch(
      new RegExp(
        `name="${field}"[^>]* aria-describedby="${field}-wrong ${field}-hint" aria-invalid="true"`,
      ),
    );
    expect((await console.parties.approvals.get(id))?.state).toBe("pending");
  });

  test("a folder and URLs for one argument", async () => {
    const { id, path } = await waits();
    const fields = { [TO.path]: "data", [TO.url]: "https://a.example" };
    const page = await alice.post(path, { answer: "approve", ...SENT, ...fields }, path);
    expect(words(page.text)).toContain("Give a folder or URLs");
    expect((await console.parties.approvals.get(id))?.state).toBe("pending");
  });

  test("a single value outside the folder", async () => {
    const { id, path } = await waits();
    const fields = { [TO.path]: "data", [TO.in]: "other" };
    const page = await alice.post(path, { answer: "approve", ...SENT, ...fields }, path);
    expect(page.status).toBe(400);
    expect(words(page.text)).toContain("No value would be left of what is asked for, any value.");
    expect(page.text).toContain(`<a href="#${TO.path}">`);
    expect((await console.parties.approvals.get(id))?.state).toBe("pending");
  });
});
