import { LOCATION } from "../bank.js";
import { send } from "../party.js";
import type { Flow, Stage } from "./flow.js";

/** Flows for discovery, list and describe: without a credential, with a Host JWT and with an Agent JWT. */
export const LISTING: readonly Flow[] = [
  {
    name: "discovery",
    async run(stage) {
      const get = (url: string) => send(stage.server, "GET", url);
      await stage.see("well known", get(`${stage.server.origin}/.well-known/agent-configuration`));
      await stage.see(
        "fallback of the published client",
        get(`${stage.server.origin}/api/auth/agent/agent-configuration`),
      );
      await stage.see(
        "directory",
        get(`${stage.server.origin}/api/search?intent=127.0.0.1&limit=5`),
      );
    },
  },
  {
    name: "list",
    async run(stage) {
      const list = (query: string) => send(stage.server, "GET", `/capability/list${query}`);
      await stage.see("no credential", list(""));
      const { host, agent } = await stage.granted("transfer_funds");
      await stage.see("host", host.send("GET", "/capability/list"));
      await stage.see("agent", agent.send("GET", "/capability/list"));
      for (const query of [
        "payee",
        "PAYEE delete",
        "balance",
        "remove",
        "zzz",
        "*payee*",
        "/pay/",
        "  ",
      ])
        await stage.see(`query "${query}"`, list(`?query=${encodeURIComponent(query)}`));
      for (const limit of ["1", "7", "100", "0", "-1", "1.5", "x", "", "1000000000"])
        await stage.see(`limit "${limit}"`, list(`?limit=${limit}`));
      await stage.see("a parameter twice", list("?limit=1&limit=2"));
      await stage.see("an unknown parameter", list("?colour=red"));
      await stage.see(
        "a bad token",
        send(stage.server, "GET", "/capability/list", { token: "a.b.c" }),
      );
    },
  },
  {
    name: "list, pages",
    async run(stage) {
      await pages(stage, "no credential", (query) =>
        send(stage.server, "GET", `/capability/list${query}`),
      );
      const { agent } = await stage.linked();
      const second = await pages(stage, "agent", (query) =>
        agent.send("GET", `/capability/list${query}`),
      );
      const { agent: other } = await stage.linked();
      await stage.see(
        "a cursor of another agent",
        other.send("GET", `/capability/list?limit=3&cursor=${second}`),
      );
      for (const cursor of ["x", "-2", "999", ""])
        await stage.see(
          `cursor "${cursor}"`,
          agent.send("GET", `/capability/list?cursor=${cursor}`),
        );
    },
  },
  {
    name: "describe",
    async run(stage) {
      const { host, agent } = await stage.granted("transfer_funds");
      for (const name of ["transfer_funds", "list_payees", "print_report"]) {
        const path = `/capability/describe?name=${name}`;
        await stage.see(`${name}, no credential`, send(stage.server, "GET", path));
        await stage.see(`${name}, host`, host.send("GET", path));
        await stage.see(`${name}, agent`, agent.send("GET", path));
      }
      await stage.see("unknown", agent.send("GET", "/capability/describe?name=fly"));
      await stage.see("an empty name", agent.send("GET", "/capability/describe?name="));
      await stage.see("no name", agent.send("GET", "/capability/describe"));
      await stage.see(
        "two names",
        agent.send("GET", "/capability/describe?name=list_payees&name=fly"),
      );
      const narrowed = agent.send("GET", "/capability/list", undefined, {
        capabilities: ["print_report"],
        aud: LOCATION,
      });
      await stage.see("list with a JWT for another service", narrowed);
    },
  },
];

/** Reads the list in pages of three capabilities. Returns the cursor of the second page. */
async function pages(
  stage: Stage,
  who: string,
  list: (query: string) => ReturnType<typeof send>,
): Promise<string> {
  let cursor = "";
  let second = "";
  for (let page = 1; page <= 4; page++) {
    const answer = await stage.see(`${who}, page ${page}`, list(`?limit=3${cursor}`));
    const next = (answer.body as { next_cursor?: string | null }).next_cursor;
    if (next === undefined || next === null) break;
    if (page === 1) second = encodeURIComponent(next);
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
  return second;
}
