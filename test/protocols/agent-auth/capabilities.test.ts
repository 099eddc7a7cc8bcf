import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/bytes/json.js";
import { objectsIn } from "../../../src/client/received.js";
import { type Answer, linked, said, send } from "./driver.js";
import { bank, REPORTS } from "./served-bank.js";

function listed({ body }: Answer): readonly JsonObject[] {
  return objectsIn(body["capabilities"]);
}

function names(answer: Answer): readonly unknown[] {
  return listed(answer).map(({ name }) => name);
}

const ALL = [
  "check_balance",
  "list_payees",
  "transfer_funds",
  "delete_payee",
  "print_report",
  "always_fails",
  "fibs",
  "waits",
];

describe("the capability list without a valid JWT", () => {
  test("is refused unless the server makes capabilities public", async () => {
    const { url } = await bank();
    for (const path of ["/capability/list", "/capability/describe?name=check_balance"]) {
      const answer = await send(url + path);
      expect(said(answer)).toBe("401 authentication_required");
      expect(answer.headers.get("www-authenticate")).toMatch(/^AgentAuth discovery="/);
    }
  });

  test("shows only public capabilities, and /capability/describe answers alike for a hidden and an unknown capability", async () => {
    const { url } = await bank({ public: ["check_balance"] });
    const answer = await send(`${url}/capability/list`);
    expect(answer.body).toEqual({
      capabilities: [
        {
          name: "check_balance",
          description: "Check the balance of a bank account",
          input_fields: [{ name: "account_id", type: "string", description: "The account" }],
        },
      ],
      has_more: false,
      next_cursor: null,
    });
    const described = await send(`${url}/capability/describe?name=check_balance`);
    expect(described.body).toMatchObject({ name: "check_balance", input: {}, output: {} });
    expect(described.body).not.toHaveProperty("grant_status");
    const hidden = await send(`${url}/capability/describe?name=transfer_funds`);
    const unknown = await send(`${url}/capability/describe?name=transfer_fundz`);
    expect(said(hidden)).toBe("404 capability_not_found");
    expect(unknown.body).toEqual(hidden.body);
  });

  test("is refused with an invalid JWT, even if all capabilities are public", async () => {
    const { url } = await bank({ public: "*" });
    expect(names(await send(`${url}/capability/list`))).toEqual(ALL);
    expect(said(await send(`${url}/capability/list`, { jwt: "a.b.c" }))).toBe("401 invalid_jwt");
  });

  test("cannot contain an unknown capability: the server refuses to start if the option public names one", async () => {
    await expect(bank({ public: ["check_balanse"] })).rejects.toThrow(
      'options.public[0]: there is no capability "check_balanse"; did you mean "check_balance"?',
    );
  });
});

describe("the capability list for a host", () => {
  test("shows the capabilities that the policy allows the host's user", async () => {
    const home = await bank();
    const one = await linked(home, "bob");
    const answer = await one.asHost("/capability/list");
    expect(names(answer)).toEqual(ALL.slice(0, 3).concat("print_report"));
    for (const one of listed(answer)) expect(one).not.toHaveProperty("grant_status");
    const hidden = await one.asHost("/capability/describe?name=delete_payee");
    expect(said(hidden)).toBe("404 capability_not_found");
  });
});

describe("the capability list for an agent", () => {
  test("shows the capabilities that the policy allows the agent's user, with grant status and location", async () => {
    const home = await bank();
    const one = await linked(home, "bob");
    const answer = await one.asAgent("/capability/list");
    expect(names(answer)).toEqual(ALL.slice(0, 3).concat("print_report"));
    const hidden = await one.asAgent("/capability/describe?name=delete_payee");
    const unknown = await one.asAgent("/capability/describe?name=delete_payer");
    expect(said(hidden)).toBe("404 capability_not_found");
    expect(unknown.body).toEqual(hidden.body);
    const report = listed(answer).find(({ name }) => name === "print_report");
    expect(report).toMatchObject({ location: REPORTS, grant_status: "not_granted" });
    const described = await one.asAgent("/capability/describe?name=check_balance");
    expect(described.body["grant_status"]).toBe("granted");
    const open = await bank({ public: ["delete_payee"] });
    const other = await linked(open, "bob");
    expect(names(await other.asAgent("/capability/list"))).toEqual([
      ...ALL.slice(0, 4),
      "print_report",
    ]);
    const near = await one.asAgent("/capability/describe?name=check_balanse");
    expect(near.body["message"]).toMatch(/did you mean "check_balance"/);
    expect(said(await one.asAgent("/capability/describe"))).toBe("400 invalid_request");
    expect(said(await one.asAgent("/capability/describe?name=a&name=b"))).toBe(
      "400 invalid_request",
    );
  });

  test("with a query shows the capabilities whose name or description contains a word of the query", async () => {
    const home = await bank();
    const one = await linked(home);
    const search = async (query: string) =>
      names(await one.asAgent(`/capability/list?query=${encodeURIComponent(query)}`));
    expect(await search("payee")).toEqual(["list_payees", "delete_payee"]);
    expect(await search("TRANSFER money")).toEqual(["transfer_funds"]);
    expect(await search("  ")).toEqual(ALL);
    expect(await search("balance payee")).toEqual(["check_balance", "list_payees", "delete_payee"]);
    // The server must not read the query as a regular expression.
    expect(await search("/(zz+)+$/")).toEqual([]);
    const long = `/capability/list?query=${"a".repeat(257)}`;
    expect(said(await one.asAgent(long))).toBe("400 invalid_request");
  });
});

describe("pages of the capability list", () => {
  test("continue with a cursor that is valid only for the same query and caller", async () => {
    const home = await bank();
    const one = await linked(home);
    const other = await linked(home);
    const first = await one.asAgent("/capability/list?limit=3");
    expect(names(first)).toEqual(ALL.slice(0, 3));
    const cursor = String(first.body["next_cursor"]);
    expect(first.body["has_more"]).toBe(true);
    expect(cursor).not.toMatch(/transfer|agent/);
    const second = await one.asAgent(`/capability/list?limit=5&cursor=${cursor}`);
    expect(names(second)).toEqual(ALL.slice(3));
    expect(second.body).toMatchObject({ has_more: false, next_cursor: null });

    const last = cursor.slice(-1) === "A" ? "B" : "A";
    const refused: [string, () => Promise<Answer>][] = [
      ["another agent's", () => other.asAgent(`/capability/list?cursor=${cursor}`)],
      ["the host's", () => one.asHost(`/capability/list?cursor=${cursor}`)],
      ["another query's", () => one.asAgent(`/capability/list?query=a&cursor=${cursor}`)],
      ["a changed one", () => one.asAgent(`/capability/list?cursor=${cursor.slice(0, -1)}${last}`)],
      ["a made-up one", () => one.asAgent("/capability/list?cursor=3")],
    ];
    for (const [what, ask] of refused) {
      expect(said(await ask()), what).toBe("400 invalid_request");
    }
    const events = await home.events();
    expect(events.filter(({ codes = [] }) => codes.includes("invalid_request"))).toHaveLength(5);
    home.clock.now += 2 * 60 * 60 * 1000;
    expect(home.issuer.open("agent-auth-cursor", cursor)).toBeUndefined();
  });

  test("are refused if the limit is not a whole number from 1 to 1,000", async () => {
    const home = await bank({ public: "*" });
    for (const limit of ["0", "-1", "1.5", "many", "1001", ""]) {
      const answer = await send(`${home.url}/capability/list?limit=${limit}`);
      expect(said(answer), limit).toBe("400 invalid_request");
    }
  });
});
