import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startConsole, type TestConsole } from "./support.js";
import { formIn, words } from "./visitor.js";

let console: TestConsole;

beforeAll(async () => {
  console = await startConsole({ settings: { defaults: ["read_balance"] } });
});

afterAll(() => console.close());

describe("the page of active grants", () => {
  test("shows each grant with its limits and its last use, and can revoke a grant", async () => {
    const asked = await console.askInList("alice", { purpose: "Rent" });
    const alice = await console.signedIn("alice");
    const at = `/requests/${asked.approval.id}`;
    await alice.post(at, { answer: "approve", "g-0-0-max": "10" }, at);
    const [grant] = await console.parties.grantsOf(asked.agent);
    if (grant === undefined) throw new Error("there is no grant");
    expect(words((await alice.get("/grants")).text)).toContain("Last used never");
    await console.parties.used(asked.agent, grant.id);
    const page = words((await alice.get("/grants")).text);
    expect(page).toContain("transfer_funds");
    expect(page).toContain("Payments helper Of the host Desk assistant transfer_funds");
    expect(page).toContain("amount at most 10");
    expect(page).toContain("Why Rent");
    expect(page).toMatch(/Last used \d{4}-/);

    const done = await alice.post(`/grants/${grant.id}/revoke`, {}, "/grants");
    expect(done.status).toBe(200);
    expect(words(done.text)).toContain("Revoked: transfer_funds");
    expect(words(done.text)).toContain("No agent may do anything for you.");
    expect((await console.parties.grant(grant.id))?.status).toBe("revoked");
  });

  test("neither shows nor revokes grants of other users", async () => {
    const asked = await console.askInList("alice");
    const [alice, bob] = [await console.signedIn("alice"), await console.signedIn("bob")];
    const at = `/requests/${asked.approval.id}`;
    await alice.post(at, { answer: "approve" }, at);
    const [grant] = await console.parties.grantsOf(asked.agent);
    const id = grant?.id ?? "";
    expect(words((await bob.get("/grants")).text)).not.toContain("transfer_funds");
    expect(words((await bob.get(`/grants?revoked=${id}`)).text)).not.toContain("transfer_funds");
    const own = formIn((await bob.get("/device")).text, new URL(`${console.url}/device`));
    const form = new URLSearchParams({ csrf: own.get("csrf") ?? "" });
    expect((await bob.submit(`/grants/${id}/revoke`, form)).status).toBe(404);
    expect((await bob.submit("/grants/none/revoke", form)).status).toBe(404);
    expect((await bob.submit(`/hosts/${asked.host}/revoke`, form)).status).toBe(404);
    expect((await console.parties.grant(id))?.status).toBe("active");
    expect(await console.recorded()).toContain("approval.refused grant_not_found");
  });
});

describe("the page of hosts", () => {
  test("adds a host, shows its enrolment token once, and revokes the host", async () => {
    const carol = await console.signedIn("carol");
    expect(words((await carol.get("/hosts")).text)).toContain("You have no hosts.");
    const made = await carol.post("/hosts", { name: "Desk <b>assistant</b>" }, "/hosts");
    // Only the answer to the POST shows the token. A reload creates no second host, and no longer shows the
    // token.
    expect(made.status).toBe(200);
    const again = await carol.get("/hosts");
    expect(again.text).not.toContain('class="secret"');
    expect(await console.parties.hostsOf("carol")).toHaveLength(1);
    const token = /<code class="secret">([^<]+)</.exec(made.text)?.[1] ?? "";
    expect(made.text).toContain("Desk &lt;b&gt;assistant&lt;/b&gt;");
    const key = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
    const enrolled = await console.parties.enrollHost({
      token,
      key,
      thumbprint: "carols",
      proven: true,
    });
    expect(enrolled.ok && enrolled.host.status).toBe("active");
    const list = await carol.get("/hosts");
    expect(list.text).not.toContain(token);
    expect(words(list.text)).toContain("State Active");
    expect(words(list.text)).toContain("Its agents get at once read_balance");

    const [host] = await console.parties.hostsOf("carol");
    const page = await carol.post(`/hosts/${host?.id}/revoke`, {}, "/hosts");
    expect(words(page.text)).toContain("State Revoked");
    expect(page.text).not.toContain(`/hosts/${host?.id}/revoke`);
    expect(console.logged()).not.toContain(token);
  });

  test("refuses a host with a name that is too long", async () => {
    const carol = await console.signedIn("carol");
    const page = await carol.post("/hosts", { name: "x".repeat(2000) }, "/hosts");
    expect(page.status).toBe(400);
    expect(words(page.text)).toContain("The host was not added");
  });
});

describe("a string of another party", () => {
  const hostile = [
    ["a script", "<script>alert(1)</script>", "&lt;script&gt;"],
    ["an attribute", '" onmouseover="alert(1)', "&quot; onmouseover"],
    ["markup of a page", "</bdi></span></dd><h1>Approved by the console</h1>", "&lt;h1&gt;"],
    ["a right-to-left override", "safe \u202etxet", '<span class="escape">\\u{202e}</span>'],
    ["several lines", "a\nState: approved", '<span class="escape">\\n</span>'],
    ["invisible characters", "\u200b\u2060\u3164", '<span class="escape">\\u{3164}</span>'],
    ["look-alike letters", "p\u0430ypal", "letters of different alphabets in one word"],
    [
      "quotation marks like the console's",
      "x\u201d is what it says. \u201cx",
      '<span class="escape">\\u{201d}</span>',
    ],
    ["stacked combining marks", `a${"\u0301".repeat(9)}`, '<span class="escape">\\u{301}</span>'],
  ] as const;
  test.each(hostile)("is shown as text: %s", async (_, text, shown) => {
    const asked = await console.askInList("alice", { purpose: text, bindingMessage: text });
    const alice = await console.signedIn("alice");
    for (const path of ["", `/requests/${asked.approval.id}`, "/history"]) {
      const page = await alice.get(path);
      expect(page.status).toBe(200);
      expect(page.text).not.toMatch(/<script|<h1>Approved|" onmouseover|\u202e|\u200b/);
      if (path !== "/history") expect(page.text).toContain(shown);
    }
  });

  test("is shown in quotation marks, and not in the page's title", async () => {
    const name = "Approve this. The console has checked it";
    const asked = await console.askInList("bob", { name });
    const bob = await console.signedIn("bob");
    const page = await bob.get(`/requests/${asked.approval.id}`);
    expect(page.text).toContain(`<span class="untrusted">“<bdi>${name}</bdi>”</span>`);
    const title = /<title>([^<]*)</.exec(page.text)?.[1];
    expect(title).toBe("A request to approve – approvals of Northwind payments");
  });
});
