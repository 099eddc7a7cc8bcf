import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { MAIN } from "../../support/built.js";
import { connectClient, publishedServer } from "../../support/mcp-servers.js";
import { Bench, type Document } from "../run.js";
import { connectHere, fickleServer } from "./gating.js";

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});

/** Writes a recording of messages that a host has sent. */
function record(name: string, ...messages: readonly object[]): void {
  const lines = messages.map((message, id) =>
    JSON.stringify({
      time: "2026-01-01T00:00:00.000Z",
      from: "host",
      text: JSON.stringify({ jsonrpc: "2.0", id, ...message }),
    }),
  );
  bench.write(name, `${lines.join("\n")}\n`);
}

function call(name: string, given: object): object {
  return { method: "tools/call", params: { name, arguments: given } };
}

const read = (path: string): object => call("read", { path });

/** Runs `proviso mcp learn` on a recording, and returns the JSON document. */
function learn(name: string, ...args: readonly string[]): Promise<Document> {
  return bench.json("mcp", "learn", "--recording", name, ...args);
}

/** Returns whether a token allows a call, according to `proviso verify`. */
async function allows(token: string, operation: string, given: object): Promise<boolean> {
  const named = Object.entries(given).flatMap(([name, value]) => [
    "--arg",
    `${name}=${JSON.stringify(value)}`,
  ]);
  const verify = ["verify", `@${token}`, "--grant", "mcp", "--op", operation, ...named];
  return (await bench.json(...verify))["allowed"];
}

describe("proviso mcp learn between a client and a real server", () => {
  test("passes every message on unchanged, and writes a token and a request for the observed calls", async () => {
    const folder = join(bench.folder, "me", "docs");
    mkdirSync(folder, { recursive: true });
    bench.write("me/docs/a.txt", "one\ntwo\n");
    bench.write("me/docs/b.txt", "three\n");
    const server = publishedServer("@modelcontextprotocol/server-filesystem", bench.folder);
    const session = async (words: readonly string[], env = {}) => {
      const { client, stderr } = await connectClient(words, { env, cwd: bench.folder });
      const answers = [
        await client.listTools(),
        await client.callTool({
          name: "read_text_file",
          arguments: { path: join(folder, "a.txt"), head: 1 },
        }),
        await client.callTool({
          name: "read_text_file",
          arguments: { path: join(folder, "b.txt") },
        }),
        await client.callTool({ name: "list_directory", arguments: { path: folder } }),
      ];
      await client.close();
      return { answers, stderr: stderr() };
    };
    const direct = await session(server);
    const secret = "a-password-of-a-database";
    // The PATH of a host on which proviso is not installed.
    const PATH = "/nonexistent";
    const env = { PATH, PROVISO_HOME: bench.home, PROVISO_DATABASE_PASSWORD: secret };
    const learned = await session(
      [process.execPath, MAIN, "mcp", "learn", "--name", "files", "--", ...server],
      env,
    );
    expect(learned.answers).toEqual(direct.answers);
    expect(learned.stderr).toContain(`Made a home at ${bench.home}`);
    expect(learned.stderr).toContain("read_text_file, 2 times");
    const block = /^\{\n[\s\S]*^\}$/m.exec(learned.stderr)?.[0] ?? "";
    expect(JSON.parse(block)).toEqual({
      mcpServers: {
        files: {
          command: process.execPath,
          args: [
            MAIN,
            "mcp",
            "gate",
            "--home",
            bench.home,
            "--name",
            "files",
            "--token",
            `@${bench.home}/files.token`,
            "--",
            ...server,
          ],
        },
      },
    });
    for (const end of ["recording", "token", "request"]) {
      expect(statSync(join(bench.home, `files.${end}`)).mode & 0o777, end).toBe(0o600);
    }
    const token = "home/files.token";
    expect(await allows(token, "read_text_file", { path: join(folder, "a.txt"), head: 1 })).toBe(
      true,
    );
    expect(await allows(token, "read_text_file", { path: join(folder, "c", "d.txt") })).toBe(true);
    expect(await allows(token, "read_text_file", { path: join(bench.folder, "me", "x") })).toBe(
      false,
    );
    expect(await allows(token, "read_text_file", { path: join(folder, "a.txt"), tail: 1 })).toBe(
      false,
    );
    expect(await allows(token, "write_file", { path: join(folder, "a.txt") })).toBe(false);
  });

  test("learns nothing from calls that the server refuses, and lists these calls in the request file", async () => {
    const folder = join(bench.folder, "me", "docs");
    mkdirSync(folder, { recursive: true });
    bench.write("me/docs/a.txt", "one\n");
    bench.write("me/docs/b.txt", "two\n");
    const server = publishedServer("@modelcontextprotocol/server-filesystem", folder);
    const words = ["mcp", "learn", "--name", "files", "--", ...server];
    const { client, running } = await connectHere(bench, words);
    const readText = (path: string) =>
      client.callTool({ name: "read_text_file", arguments: { path } });
    await readText(join(folder, "a.txt"));
    expect(await readText("/etc/passwd")).toMatchObject({ isError: true });
    expect(await readText("/etc/passwd")).toMatchObject({ isError: true });
    await readText(join(folder, "b.txt"));
    await client.callTool({ name: "list_directory", arguments: { path: "/etc" } });
    await client.callTool({ name: "greet", arguments: {} }).catch(() => {});
    await client.close();
    await running.ended;
    expect(running.stderr).toContain(
      "Calls that failed, from which nothing is learned:\n  read_text_file, once\n  list_directory, once\n  greet, once\n",
    );
    const request = bench.read("home/files.request");
    expect(request.match(/^--(?:op|arg) .*$/gm)).toEqual([
      "--op read_text_file",
      `--arg read_text_file:path under ${folder}`,
    ]);
    const [, failed = ""] = request.split("# Calls that failed, from which nothing is learned:\n");
    expect(failed).toMatch(/^# {3}read_text_file {"path":"\/etc\/passwd"}: Access denied/);
    expect(failed).toMatch(/^# {3}list_directory {"path":"\/etc"}: Access denied/m);
    expect(failed).toMatch(/^# {3}greet {}: .*greet/m);
    const made = await bench.json("mcp", "token", "--request", "home/files.request", "-o", "t");
    expect(made).toMatchObject({ status: 0, hop: { operations: ["read_text_file"] } });
  });

  test("withholds PROVISO_ variables from the server, and their values and tokens from the recording", async () => {
    bench.write("tools.json", "[]");
    const server = fickleServer(bench.path("tools.json"));
    const env = { PROVISO_PASSWORD: "swordfish-9", OWN: "for the server" };
    const words = ["mcp", "learn", "--name", "all", "--", ...server];
    const { client, running } = await connectHere(bench, words, env);
    const answer = await client.callTool({
      name: "get-env",
      arguments: {},
      _meta: { "dev.proviso/capability": "the-token", other: "kept" },
    });
    await client.callTool({ name: "echo", arguments: { message: "swordfish-9" } });
    await client.close();
    await running.ended;
    const seen = JSON.stringify(answer);
    expect(seen).toContain("for the server");
    expect(seen).not.toContain("PROVISO_");
    const recording = bench.read("home/all.recording");
    expect(recording).toContain("kept");
    expect(recording).not.toContain("the-token");
    expect(recording).not.toContain("swordfish-9");
  });

  test.each([
    [["--expires", "1x"], 2, '--expires "1x"'],
    [["--expires", "9999d"], 2, "is later than this issuer allows"],
    [["--server", "a/b"], 2, '--server "a/b" cannot be the name of a server'],
    [
      ["--output", "/nonexistent/x"],
      6,
      "could not write /nonexistent/x: its folder does not exist",
    ],
    [
      ["--request", "/nonexistent/x"],
      6,
      "could not write /nonexistent/x: its folder does not exist",
    ],
  ] as const)(
    "refuses %j before the session, and starts no server",
    async (options, code, message) => {
      const server = ["node", "-e", 'require("fs").writeFileSync("started", "")'];
      const words = ["mcp", "learn", "--name", "files", ...options, "--", ...server];
      const { status, stderr } = await bench.run(words);
      expect({ status, stderr }).toEqual({
        status: code,
        stderr: expect.stringContaining(message),
      });
      expect(existsSync(bench.path("started"))).toBe(false);
      expect(existsSync(bench.path("home/files.recording"))).toBe(false);
    },
  );

  test("fails if the program does not start, and prints the name of the program", async () => {
    const learn = ["mcp", "learn", "--recording", "r", "--", "no-such-program"];
    const { status, stderr } = await bench.run(learn);
    expect(stderr).toContain("the server does not start: there is no program no-such-program");
    expect(stderr).toContain("write its absolute path if PATH does not have it");
    expect(status).toBe(6);
    expect(existsSync(bench.path("r"))).toBe(false);
    bench.write("r", "an earlier recording\n");
    await bench.run(learn);
    expect(bench.read("r")).toBe("an earlier recording\n");
  });
});

describe("proviso mcp learn from a recording", () => {
  test("writes a request of command line options, from which mcp token makes the same hop as mcp learn", async () => {
    record("r", read("/srv/me/a"), read("/srv/me/b"), call("note, it", { n: 3, to: { a: "x y" } }));
    const { status, hop, request, file } = await learn("r", "--name", "files", "--expires", "2h");
    expect(status).toBe(0);
    const text = bench.read("home/files.request");
    expect(text).toContain("\n--grant mcp\n--expires 2h\n");
    expect(text).toContain("\n--op read\n--only-args read:path\n--arg read:path under /srv/me\n");
    expect(text).toContain('\n--op "note, it"\n');
    const again = await bench.json("mcp", "token", "--request", request, "--output", "again");
    const { nonce, expires, ...limits } = hop;
    expect(again["hop"]).toMatchObject(limits);
    expect(file).toBe(bench.path("home/files.token"));
  });

  test("with --server NAME, writes operations as NAME/TOOL, and mcp token joins the requests of several servers", async () => {
    record("a", read("/srv/me/a"));
    record("b", call("fetch", { body: "two\nlines" }));
    const first = await learn("a", "--server", "files");
    expect(first["hop"]["operations"]).toEqual(["files/read"]);
    expect(first).not.toHaveProperty("configuration");
    await learn("b", "--server", "web");
    const { stdout } = await bench.run(["mcp", "learn", "--recording", "b", "--server", "web"]);
    expect(stdout).toContain("With any value:\n  web/fetch, argument body\n");
    expect(stdout).toMatch(
      /Make one token of this request .*\n {2}.* mcp token --home .*b\.request/,
    );
    const both = ["--request", "home/a.request", "--request", "home/b.request"];
    const made = await bench.output("mcp", "token", ...both, "-o", "t");
    expect(made).toContain(`  "home": "${bench.home}",\n  "token": "${bench.path("t")}",`);
    expect(made).not.toContain("before the server's command");
    const { status, hop } = await bench.json("mcp", "token", ...both, "-o", "t");
    expect(status).toBe(0);
    expect(hop.operations).toEqual(["files/read", "web/fetch"]);
    expect(hop.arguments).toEqual({ "files/read": ["path"], "web/fetch": ["body"] });
    bench.write("other", "--grant other\n--op x\n");
    const differing = await bench.run(["mcp", "token", ...both, "--request", "other"]);
    expect(differing.stderr).toContain("other: another file has another --grant");
  });

  test("writes a request that a user can edit for mcp token; for an invalid request, mcp token fails and names the line", async () => {
    record("r", read("/srv/me/a"));
    await learn("r", "--name", "files");
    const text = bench.read("home/files.request").replace("path=/srv/me/a", "path under /srv/me");
    bench.write("home/files.request", text);
    const made = await bench.json("mcp", "token", "--request", "home/files.request", "-o", "t");
    expect(made).toMatchObject({
      status: 0,
      hop: { operationConstraints: { read: { path: { path: "/srv/me" } } } },
    });
    bench.write("bad", "--op read\n\n# fine\n--argh read:path\n");
    const bad = await bench.run(["mcp", "token", "--request", "bad"]);
    expect(bad.stderr).toContain('bad, line 4: "--argh" is not an option of a request');
    expect(bad.status).toBe(2);
    const both = await bench.run(["mcp", "token", "--request", "bad", "--op", "read"]);
    expect(both.stderr).toContain("--request has all that the token allows");
    bench.write("twice", "--op read\n--expires 1h\n--expires 2h\n");
    expect((await bench.run(["mcp", "token", "--request", "twice"])).stderr).toContain(
      "--expires is given twice",
    );
    expect((await bench.run(["mcp", "token", "--request", "none"])).stderr).toContain(
      "could not read none: there is no such file",
    );
  });

  test("replaces the request and the token that it wrote before, unless one of the two files was changed since", async () => {
    const [request, token] = ["home/files.request", "home/files.token"];
    record("r", read("/srv/me/a"), call("write", { path: "/srv/me/a" }));
    const args = ["mcp", "learn", "--recording", "r", "--name", "files"];
    await bench.output(...args);
    record("r", read("/srv/me/a"), read("/srv/me/b"), call("write", { path: "/srv/me/a" }));
    await bench.output(...args);
    expect(bench.read(request)).toContain("--arg read:path under /srv/me\n");

    const edited = bench.read(request).replace(/^--(op|only-args|arg) write.*\n/gm, "");
    bench.write(request, edited);
    await bench.output("mcp", "token", "--request", request, "--output", token);
    const narrow = bench.read(token);
    expect(await bench.output(...args)).toContain("they are not as learn wrote them");
    expect(bench.read(request)).toBe(edited);
    expect(bench.read(token)).toBe(narrow);
    expect(bench.read(`${request}.new`)).toContain("--op write\n");

    bench.write(`${request}.new`, "# mine\n");
    await bench.output(...args);
    await bench.output(...args);
    expect(bench.read(`${request}.new`)).toBe("# mine\n");
    const { kept, request: written } = await learn("r", "--name", "files");
    expect(kept).toEqual([bench.path(request), bench.path(token)]);
    expect(written).toBe(bench.path(`${request}.new2`));
    expect([bench.read(request), bench.read(token)]).toEqual([edited, narrow]);

    await bench.output("mcp", "token", "--request", written, "--output", token);
    expect(await allows(token, "write", { path: "/srv/me/a" })).toBe(true);
  });

  test("does not overwrite a token that it did not write", async () => {
    record("r", read("/srv/me/a"));
    await bench.output("mcp", "token", "--op", "mine", "--output", "files.token");
    const mine = bench.read("files.token");
    const { kept } = await learn("r", "--output", "files.token");
    expect(kept).toContain(bench.path("files.token"));
    expect(bench.read("files.token")).toBe(mine);
  });

  test("without --allow-broad, leaves out a call that only a broad limit would allow, and lists the call in the request", async () => {
    const many = Array.from({ length: 100 }, (_, at) => read(`/home/user${at}`));
    record("r", ...many, call("ping", {}));
    const { status, leftOut, hop } = await learn("r", "--name", "n");
    expect(status).toBe(0);
    expect(hop.operations).toEqual(["ping"]);
    expect(leftOut).toMatchObject([{ operation: "read", argument: "path" }]);
    expect(bench.read("home/n.request")).toContain(
      "# Seen, but not allowed:\n#   read, argument path: no narrow",
    );
    const broad = await learn("r", "--name", "n", "--allow-broad");
    expect(broad["hop"]["operationConstraints"]["read"]["path"]).toEqual({ path: "/home" });
  });

  test("also learns from resources, prompts, sampling and elicitation", async () => {
    const line = (from: string, message: object): string =>
      JSON.stringify({
        time: "",
        from,
        text: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
      });
    bench.write(
      "r",
      [
        line("host", { method: "resources/read", params: { uri: "file:///srv/me/a" } }),
        line("host", { method: "resources/read", params: { uri: "file:///srv/me/b" } }),
        line("host", { method: "prompts/get", params: { name: "p", arguments: { city: "Ulm" } } }),
        line("server", {
          method: "sampling/createMessage",
          params: { messages: [{ content: "/etc" }], maxTokens: 5 },
        }),
        line("server", {
          id: 2,
          result: {
            resultType: "input_required",
            inputRequests: {
              k: {
                method: "elicitation/create",
                params: { mode: "url", url: "https://a.example/x" },
              },
            },
          },
        }),
        line("host", { method: "resources/read", params: { uri: "file:///srv/me/../b" } }),
        JSON.stringify({ time: "", from: "server", text: "Starting the server..." }),
        '{"time":"","from":"host","text":"half',
      ].join("\n"),
    );
    const { hop, refused } = await learn("r", "--name", "n");
    expect(hop).toMatchObject({
      operations: ["client:elicitation", "client:sampling", "prompts:get", "resources:read"],
      arguments: {
        "client:sampling": ["maxTokens", "messages"],
        "prompts:get": ["arguments", "name"],
      },
      operationConstraints: {
        "client:elicitation": { url: "https://a.example/x" },
        "prompts:get": { "/arguments/city": "Ulm", name: "p" },
        "resources:read": { path: { path: "/srv/me" } },
      },
    });
    expect(hop.operationConstraints).not.toHaveProperty(["client:sampling"]);
    expect(Object.keys(refused)).toEqual([expect.stringContaining("cannot be judged")]);
    const { stdout } = await bench.run(["mcp", "learn", "--recording", "r", "--name", "n"]);
    expect(stdout).toContain("Passed over lines that are not of a recording: 1");
  });

  test("learns nothing from a call, a task or a request of the server that was answered with an error", async () => {
    const said = (from: string, message: object): string =>
      JSON.stringify({ time: "", from, text: JSON.stringify({ jsonrpc: "2.0", ...message }) });
    const asked = (id: number, name: string, given: object = {}): string =>
      said("host", { id, ...call(name, given) });
    const answered = (id: number, result: object): string => said("server", { id, result });
    const error = { code: -32602, message: "no\nsuch" };
    bench.write(
      "r",
      [
        asked(1, "good"),
        answered(1, { content: [] }),
        // The next session uses the same ids again.
        asked(1, "bad", { path: "/etc/passwd" }),
        asked(2, "good", { path: "/srv/me/a" }),
        said("server", { id: 1, error }),
        answered(2, { content: [] }),
        // Calls that the host repeats, one with success and one without.
        asked(3, "ask", { path: "/srv/me/a" }),
        answered(3, { resultType: "input_required", inputRequests: {} }),
        asked(4, "ask", { path: "/srv/me/a" }),
        answered(4, { content: [] }),
        asked(5, "ask", { path: "/etc/shadow" }),
        answered(5, { resultType: "input_required", inputRequests: {} }),
        asked(6, "ask", { path: "/etc/shadow" }),
        answered(6, { isError: true, content: [{ type: "text", text: "denied" }] }),
        // Calls that create tasks, in both eras.
        asked(7, "old-task"),
        answered(7, { task: { taskId: "t1", status: "working" } }),
        said("host", { id: 8, method: "tasks/result", params: { taskId: "t1" } }),
        answered(8, { isError: true, content: [{ type: "text", text: "late" }] }),
        asked(9, "new-task"),
        answered(9, { resultType: "task", taskId: "t2", status: "working" }),
        said("host", { id: 10, method: "tasks/get", params: { taskId: "t2" } }),
        answered(10, { taskId: "t2", status: "failed", error }),
        // The server sends a request to the host, with an id of its own.
        asked(11, "good", { path: "/srv/me/b" }),
        said("server", { id: 11, method: "sampling/createMessage", params: { maxTokens: 5 } }),
        said("host", { id: 11, error }),
        answered(11, { content: [] }),
        asked(12, "unanswered"),
      ].join("\n"),
    );
    const { hop, failed } = await learn("r", "--name", "n");
    expect(hop.operations).toEqual(["ask", "good", "unanswered"]);
    expect(hop.operationConstraints.ask).toEqual({ path: "/srv/me/a" });
    const reasons = failed.map((one: Document) => [one["operation"], one["reason"]]);
    expect(reasons).toEqual([
      ["bad", "no\nsuch"],
      ["ask", "the server asked for more"],
      ["old-task", "late"],
      ["new-task", "no\nsuch"],
      ["client:sampling", "no\nsuch"],
    ]);
    expect(bench.read("home/n.request")).toContain('\n#   bad {"path":"/etc/passwd"}: no\\nsuch\n');
    bench.write("none", [asked(1, "bad"), said("server", { id: 1, error })].join("\n"));
    const none = await bench.run(["mcp", "learn", "--recording", "none"]);
    expect(none.stderr).toContain("every call in it failed: bad: no\\nsuch");
  });

  test("writes nothing for a recording without calls, for a file that is not a recording, or for a missing file", async () => {
    record("r", { method: "ping" });
    expect(await bench.run(["mcp", "learn", "--recording", "r"])).toMatchObject({
      status: 6,
      stdout: "",
      stderr: expect.stringContaining("there is no call in it"),
    });
    bench.write("other", "hello\nworld\n");
    expect((await bench.run(["mcp", "learn", "--recording", "other"])).stderr).toContain(
      "other is not a recording of a session",
    );
    const none = await bench.run(["mcp", "learn", "--recording", "none"]);
    expect(none.stderr).toContain("none: there is no such file\nhint: ");
    expect(none.status).toBe(6);
    expect(existsSync(bench.home)).toBe(false);
    expect((await bench.run(["mcp", "learn", "--name", "../x"])).stderr).toContain("--name");
  });
});
