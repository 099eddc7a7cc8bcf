import type { HttpHost } from "./http-host.js";
import type { Effect } from "./world.js";

/** A class of attacks over Streamable HTTP. The attacker is Eve, whose own token allows the same calls as Alice's. */
export interface HttpAttacks {
  readonly name: string;
  /** @returns For each attack, whether it did harm. */
  play(
    alice: HttpHost,
    eve: HttpHost,
    effects: () => readonly Effect[],
  ): Promise<readonly boolean[]>;
}

const DELETE = { name: "delete_all", arguments: {} };

export const HTTP_ATTACKS: readonly HttpAttacks[] = [
  {
    name: "headers that name another call",
    async play(_, eve, effects) {
      const harms = [];
      const wrong: readonly { readonly [name: string]: string }[] = [
        { "Mcp-Name": "send_mail" },
        { "Mcp-Method": "ping" },
        { "Mcp-Method": "tools/list", "Mcp-Name": "send_mail" },
        { "MCP-Protocol-Version": "2025-11-25" },
      ];
      for (const headers of wrong) {
        await eve.request("tools/call", DELETE, headers);
        harms.push(effects().some(({ kind }) => kind === "delete"));
      }
      return harms;
    },
  },
  {
    name: "another's task",
    async play(alice, eve) {
      const started = await alice.request("tools/call", { name: "report", arguments: {} });
      const taskId = /"taskId":"([^"]+)"/.exec(started)?.[1];
      const harms = [];
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        const answer = await eve.request(method, { taskId, inputResponses: {} });
        harms.push(answer.includes("TASK-SECRET"));
      }
      return harms;
    },
  },
  {
    name: "another's state",
    async play(alice, eve, effects) {
      const call = { name: "transfer", arguments: { to: "acc_1", amount: 10 } };
      const asked = await alice.request("tools/call", call);
      const requestState = /"requestState":("(?:[^"\\]|\\.)*")/.exec(asked)?.[1] ?? '""';
      await eve.request("tools/call", {
        ...call,
        requestState: JSON.parse(requestState),
        inputResponses: { ok: { action: "accept", content: { ok: "yes" } } },
      });
      return [effects().some(({ kind }) => kind === "transfer")];
    },
  },
];
