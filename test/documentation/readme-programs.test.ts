import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { PACKAGE } from "./doc-comments.js";

// The README's programs that run until they are stopped: its server, and its gate in front of an MCP server.

const page = readFileSync(join(PACKAGE, "README.md"), "utf8");
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, code = ""]) => code,
  );

test("the server of the README answers the calls that its route allows, and refuses other calls", async () => {
  const [first = "", second = "", ...others] = blocks("js");
  expect(others).toEqual([]);
  expect(second).toContain("app.listen(8080);\n");
  // The folder is inside the package, so that Node resolves "proviso" to the built package.
  mkdirSync(join(PACKAGE, ".examples"), { recursive: true });
  const folder = mkdtempSync(join(PACKAGE, ".examples", "readme-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const anyPort = second
    .replace("app.listen(8080);", "const server = app.listen(0);")
    .replace(":8080/", ":` + server.address().port + `/");
  writeFileSync(join(folder, "server.mjs"), `${first}${anyPort}`);
  const server = spawn(process.execPath, [join(folder, "server.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(server, "close");
  onTestFinished(async () => {
    server.kill();
    await ended;
  });
  const [line] = await once(createInterface(server.stdout), "line");
  const [, header = "", token = "", url = ""] =
    /^curl -H "(Proviso-Capability): (\S+)" (http:\S+)$/.exec(String(line)) ?? [];
  const ask = async (address: string): Promise<readonly [number, unknown]> => {
    const answer = await fetch(address, { headers: { [header]: token } });
    const { id, denials } = JSON.parse(await answer.text());
    return [answer.status, id ?? denials[0].code];
  };
  expect(await ask(url)).toEqual([200, "rh_q1"]);
  expect(await ask(url.replace("rh_q1", "rh_q3"))).toEqual([403, "resource_denied"]);
});
