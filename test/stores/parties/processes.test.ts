import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { childProgram } from "../../support/children.js";
import { throughStores } from "../../support/databases.js";
import { databaseAt, host, NOW } from "./support.js";

throughStores((place) => {
  test("only one of two processes is the first to use an id, and no change of either process is lost", async () => {
    const where = await place();
    const store = openParties(await databaseAt(where));
    await store.change((draft) => draft.put("hosts", host("h", { updated: NOW })));
    const children = [0, 1].map(() => {
      const child = spawn(process.execPath, [childProgram("stores", "parties"), where], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      return { child, ready: once(child.stdout.setEncoding("utf8"), "data") };
    });
    await Promise.all(children.map(({ ready }) => ready));
    const used = await Promise.all(
      children.map(async ({ child }) => {
        const ended = once(child, "close");
        child.stdin.write("go\n");
        let text = "";
        for await (const part of child.stdout) text += part;
        await ended;
        return JSON.parse(text);
      }),
    );
    const all = used.flat();
    expect(all).toHaveLength(100);
    expect(new Set(all).size).toBe(100);
    expect(await store.useOnce({ scope: "test", id: "id 7", expires: NOW }, NOW - 1)).toBe("used");
    const kept = await store.read((view) => view.hosts.get("h"));
    expect(kept?.updated).toBe(NOW + 60);
  });
});
