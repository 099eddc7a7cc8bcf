import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/bytes/json.js";
import type { SessionPlugin } from "../../../../src/protocols/a2e/plugin.js";
import { Output } from "../../../../src/protocols/a2e/plugins/proc/output.js";
import {
  createProcPlugin,
  type ProcLimits,
} from "../../../../src/protocols/a2e/plugins/proc/proc-plugin.js";
import type { ProcProgram } from "../../../../src/protocols/a2e/plugins/proc/program.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { call, closed, type Made, refusal } from "./calls.js";

const NODE = process.execPath;
const node = (code: string, more: Partial<ProcProgram> = {}): ProcProgram => ({
  command: NODE,
  args: ["-e", code],
  ...more,
});
/** A program that runs until it gets a signal. */
const FOREVER = "setInterval(() => {}, 1000); console.log('up')";
const PROGRAMS = {
  echo: node("console.log(process.argv[1], process.argv[2] ?? 'alone')", {
    args: ["-e", "console.log(...process.argv.slice(1))", "--", "{word}", "--times={times}"],
    parameters: {
      word: { type: "string", pattern: "[a-z$();-]{1,20}" },
      times: { type: "integer", minimum: 1, maximum: 3 },
    },
    required: ["word"],
    description: "Says a word",
  }),
  sleeper: node(FOREVER),
  stubborn: node(`process.on("SIGTERM", () => console.log("no")); ${FOREVER}`),
  fails: node("console.error('gone wrong'); process.exitCode = 3"),
};

async function plugin(
  programs: { readonly [name: string]: ProcProgram } = PROGRAMS,
  limits: ProcLimits = { grace: 200 },
): Promise<SessionPlugin> {
  return closed(await createProcPlugin({ programs, limits }));
}

async function started(
  proc: SessionPlugin,
  name: string,
  more: Made = {},
  given: JsonObject = {},
): Promise<string> {
  const { process: id } = await call(proc, "proc/start", given, { name, ...more });
  return String(id);
}

/** Reads until the process has ended. Returns all output, and how the process ended. */
async function outcome(
  proc: SessionPlugin,
  id: string,
  made: Made = {},
): Promise<JsonObject & { all: string }> {
  let all = "";
  for (let offset = 0; ; ) {
    const part = await call(proc, "proc/read", { process: id, offset, wait: 20_000 }, made);
    all += String(part["text"]);
    offset = Number(part["next"]);
    if (part["state"] === "ended" && part["text"] === "") return { ...part, all };
  }
}

/** Waits for output of a process, and returns it. */
async function up(proc: SessionPlugin, id: string, made: Made = {}): Promise<string> {
  const { text } = await call(proc, "proc/read", { process: id, wait: 20_000 }, made);
  return String(text);
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await sleep(5);
}

describe("a program", () => {
  test("can be started, has output that can be read from an offset, and ends with an exit code", async () => {
    const proc = await plugin();
    const begun = await call(proc, "proc/start", { word: "hello", times: 2 }, { name: "echo" });
    expect(begun).toMatchObject({ program: "echo", state: "running", written: expect.any(Number) });
    const id = String(begun["process"]);
    const over = await outcome(proc, id);
    expect(over).toMatchObject({ all: "hello --times=2\n", exitCode: 0, signal: null, lost: 0 });
    const part = await call(proc, "proc/read", { process: id, offset: 6, limit: 7 });
    expect(part).toMatchObject({ text: "--times", offset: 6, next: 13, state: "ended" });
    expect(await outcome(proc, await started(proc, "fails"))).toMatchObject({
      all: "gone wrong\n",
      exitCode: 3,
    });
  });

  test("runs without a shell, and only with arguments that its schema allows", async () => {
    const proc = await plugin();
    const id = await started(proc, "echo", {}, { word: "$(id);ls" });
    expect((await outcome(proc, id)).all).toBe("$(id);ls\n");
    const start = (given: JsonObject) => refusal(call(proc, "proc/start", given, { name: "echo" }));
    const bad: JsonObject[] = [
      {},
      { word: "HELLO" },
      { word: "a b" },
      { word: "a\n" },
      { word: "a", times: 4 },
      { word: "a", more: 1 },
    ];
    for (const given of bad) expect((await start(given)).code).toBe("arguments_invalid");
    expect((await start({ word: "-rf" })).message).toContain("an option");
    const unknown = await refusal(call(proc, "proc/start", {}, { name: "ech" }));
    expect(unknown).toMatchObject({
      code: "name_unknown",
      message: expect.stringContaining("echo"),
    });
    expect((await call(proc, "proc/list"))["programs"]).toContainEqual({
      name: "echo",
      description: "Says a word",
      input: expect.objectContaining({ required: ["word"], additionalProperties: false }),
    });
  });

  test("gets only the environment variables that are configured", async () => {
    const folder = temporaryFolder();
    const proc = await plugin({
      env: node("console.log(JSON.stringify([process.env, process.cwd()]))", {
        env: { COLOUR: "green" },
        inherit: ["PATH", "NOT_THERE"],
        cwd: folder,
      }),
    });
    const { all } = await outcome(proc, await started(proc, "env"));
    const [env, cwd] = JSON.parse(all);
    expect(env).toEqual({ COLOUR: "green", PATH: process.env["PATH"] });
    expect(cwd).toBe(folder);
  });

  test("that is stopped ends a waiting proc/read, and a cancelled proc/read is rejected", async () => {
    const proc = await plugin();
    const id = await started(proc, "sleeper");
    await up(proc, id);
    const waiting = call(proc, "proc/read", { process: id, offset: 3, wait: 20_000 });
    const stopped = call(proc, "proc/stop", { process: id });
    expect(await waiting).toMatchObject({ text: "", state: "ended" });
    expect(await stopped).toMatchObject({ signal: "SIGTERM", exitCode: null, reason: "stopped" });
    const cancel = new AbortController();
    const other = await started(proc, "sleeper");
    const read = call(
      proc,
      "proc/read",
      { process: other, offset: 99, wait: 20_000 },
      { signal: cancel.signal },
    );
    cancel.abort(new Error("cancelled"));
    await expect(read).rejects.toThrow("cancelled");
  });
});

describe("stopping a process", () => {
  test("sends SIGKILL if the process ignores SIGTERM", async () => {
    const proc = await plugin();
    const id = await started(proc, "stubborn");
    await up(proc, id);
    expect(await call(proc, "proc/stop", { process: id })).toMatchObject({
      state: "ended",
      signal: "SIGKILL",
      reason: "stopped",
    });
  });

  test("also stops the child processes of the process", async () => {
    const child = `const c = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" }); console.log(c.pid);`;
    const proc = await plugin({
      stays: node(`${child} setInterval(() => {}, 1000)`),
      leaves: node(`${child} c.unref(); setTimeout(() => process.exit(0), 50)`),
    });
    const id = await started(proc, "stays");
    const grandchild = Number(await up(proc, id));
    expect(isAlive(grandchild)).toBe(true);
    await call(proc, "proc/stop", { process: id });
    await untilGone(grandchild);
    const { all, exitCode } = await outcome(proc, await started(proc, "leaves"));
    expect(exitCode).toBe(0);
    await untilGone(Number(all));
  });

  test("is automatic when the session ends, when the lifetime is over, and when the host closes", async () => {
    const proc = await plugin({ pid: node(`console.log(process.pid); ${FOREVER}`) });
    const [one, two] = [{ session: "s1" }, { session: "s2" }];
    const [first, second] = await Promise.all([
      started(proc, "pid", one),
      started(proc, "pid", two),
    ]);
    const pids = [await up(proc, first, one), await up(proc, second, two)].map((text) =>
      Number.parseInt(text, 10),
    );
    const [mine = 0, theirs = 0] = pids;
    await proc.endSession?.({ id: "s1", agentId: "" });
    expect([isAlive(mine), isAlive(theirs)]).toEqual([false, true]);
    expect((await refusal(call(proc, "proc/read", { process: first }, one))).code).toBe(
      "process_unknown",
    );
    await proc.close?.();
    expect(isAlive(theirs)).toBe(false);
    expect((await refusal(call(proc, "proc/start", {}, { name: "pid" }))).code).toBe(
      "program_failed",
    );
    const short = await plugin(PROGRAMS, { lifetime: 1, grace: 200 });
    expect(await outcome(short, await started(short, "sleeper"))).toMatchObject({
      reason: "lifetime_over",
    });
  });
});

describe("processes", () => {
  test("are limited per session, per principal and per host; ended processes do not count", async () => {
    const proc = await plugin(PROGRAMS, { perSession: 1, perPrincipal: 2, total: 3, grace: 200 });
    const first = await started(proc, "sleeper", { session: "1" });
    const over = async (made: Made): Promise<string> => {
      const refused = await refusal(call(proc, "proc/start", {}, { name: "sleeper", ...made }));
      expect(refused).toMatchObject({ code: "too_many_processes", retryable: true });
      return refused.message;
    };
    expect(await over({ session: "1" })).toContain("session");
    await started(proc, "sleeper", { session: "2" });
    expect(await over({ session: "3" })).toContain("principal");
    await started(proc, "sleeper", { session: "3", principal: "bob" });
    expect(await over({ session: "4", principal: "carol" })).toContain("host");
    await call(proc, "proc/stop", { process: first }, { session: "1" });
    await started(proc, "sleeper", { session: "1" });
  });

  test("count towards the limits until they have exited, even if their session has ended", async () => {
    const proc = await plugin(PROGRAMS, { perSession: 2, total: 2, grace: 300 });
    const made = { session: "1" };
    for (const id of [await started(proc, "stubborn", made), await started(proc, "stubborn", made)])
      await up(proc, id, made);
    const ending = proc.endSession?.({ id: "1", agentId: "" });
    const start = (session: string) => call(proc, "proc/start", {}, { name: "sleeper", session });
    expect(await refusal(start("2"))).toMatchObject({
      code: "too_many_processes",
      message: expect.stringContaining("host"),
    });
    await ending;
    await start("2");
  });

  test("are hidden from other principals, and from calls that name another program", async () => {
    const proc = await plugin();
    const id = await started(proc, "sleeper");
    const strangers: Made[] = [{ principal: "bob" }, { name: "echo" }];
    for (const made of strangers) {
      expect((await call(proc, "proc/list", {}, made))["processes"]).toEqual([]);
      for (const operation of ["proc/read", "proc/stop"]) {
        expect((await refusal(call(proc, operation, { process: id }, made))).code).toBe(
          "process_unknown",
        );
      }
    }
    const { programs, processes } = await call(proc, "proc/list", {}, { name: "sleeper" });
    expect([programs, processes]).toMatchObject([[{ name: "sleeper" }], [{ process: id }]]);
    expect(proc.operations["proc/read"]?.handles?.("slepeer")).toBe(false);
    expect(await call(proc, "proc/stop", { process: id }, { name: "sleeper" })).toMatchObject({
      state: "ended",
    });
  });

  test("are hidden from other sessions, even of the same principal", async () => {
    const proc = await plugin();
    const id = await started(proc, "sleeper");
    const other = { session: "s2" };
    expect((await call(proc, "proc/list", {}, other))["processes"]).toEqual([]);
    for (const operation of ["proc/read", "proc/stop"]) {
      expect((await refusal(call(proc, operation, { process: id }, other))).code).toBe(
        "process_unknown",
      );
    }
    expect((await call(proc, "proc/list"))["processes"]).toMatchObject([
      { process: id, state: "running" },
    ]);
  });

  test("keep their latest output, and report the number of lost bytes", async () => {
    const code = "process.stdout.write('x'.repeat(100000) + 'the end')";
    const proc = await plugin({ loud: node(code) }, { outputBytes: 1024 });
    const id = await started(proc, "loud");
    await outcome(proc, id);
    const part = await call(proc, "proc/read", { process: id });
    expect(part).toMatchObject({ offset: 98_983, next: 100_007, lost: 98_983, written: 100_007 });
    expect(String(part["text"])).toMatch(/^x{1017}the end$/);
  });

  test("have output that is never cut inside a character", () => {
    const text = "aé€😀".repeat(50);
    const bytes = Buffer.from(text);
    for (const [piece, size, most] of [
      [1, 1000, 4],
      [7, 1000, 5],
      [64, 1000, 1000],
      [3, 600, 11],
    ] as const) {
      const output = new Output(size);
      let read = "";
      let at = 0;
      const take = (over: boolean): void => {
        const part = output.read(at, most, over);
        expect(part.lost).toBe(0);
        read += part.text;
        at = part.next;
      };
      for (let from = 0; from < bytes.length; from += piece) {
        output.write(bytes.subarray(from, from + piece));
        take(false);
      }
      while (at < output.end) take(true);
      expect(read).toBe(text);
    }
    const ring = new Output(10);
    ring.write(bytes);
    expect(ring.read(0, 100, true)).toMatchObject({
      text: "aé€😀".slice(-5),
      lost: bytes.length - 10,
    });
    ring.write(Uint8Array.of(0xff, 0xe2, 0x82));
    expect(ring.read(bytes.length, 100, false)).toMatchObject({
      text: "\ufffd",
      next: bytes.length + 1,
    });
    expect(ring.read(bytes.length, 100, true)).toMatchObject({ text: "\ufffd\ufffd" });
  });
});

test("createProcPlugin refuses wrong options and names the option, and a program that cannot start fails with program_failed", async () => {
  const wrong: [unknown, string][] = [
    [{}, "programs: there must be at least one"],
    [{ "a b": node("") }, "programs: a name must be 1 to 64"],
    [{ a: { comand: "x" } }, 'programs.a.comand: unknown property; did you mean "command"?'],
    [{ a: { command: "no-such-program-here" } }, "programs.a.command: there is no program"],
    [{ a: { command: "/etc/hostname-not" } }, "programs.a.command: there is no program"],
    [{ a: { command: NODE, args: ["{x}"] } }, 'programs.a.args[0]: there is no parameter "x"'],
    [
      { a: { command: NODE, parameters: { x: { type: "integer" } } } },
      "programs.a.parameters.x: no argument has {x}",
    ],
    [
      { a: { command: NODE, args: ["{x}"], parameters: { x: { type: "string" } } } },
      'programs.a.parameters.x: a string needs "pattern"',
    ],
    [
      { a: { command: NODE, args: ["{x}"], parameters: { x: {} } } },
      "programs.a.parameters.x.type: must be",
    ],
    [
      { a: { command: NODE, parameters: { name: { type: "integer" } } } },
      'programs.a.parameters.name: a parameter cannot be called "name"',
    ],
    [
      { a: { command: NODE, args: ["--x", "v{x}"], parameters: { x: { type: "integer" } } } },
      'programs.a.args[1]: without "x", "--x" would be left without its value; write "--x=v{x}"',
    ],
    [{ a: { command: NODE, required: ["x"] } }, 'programs.a.required: there is no parameter "x"'],
    [{ a: { command: NODE, env: { A: 1 } } }, "programs.a.env.A: must be a string"],
  ];
  for (const [programs, message] of wrong) {
    await expect(Reflect.apply(createProcPlugin, undefined, [{ programs }])).rejects.toThrow(
      message,
    );
  }
  await expect(createProcPlugin({ programs: PROGRAMS, limits: { total: 0 } })).rejects.toThrow(
    "limits.total",
  );
  const fine = { x: { type: "integer" } };
  await plugin({
    needed: node("", { args: ["-x", "{x}"], parameters: fine, required: ["x"] }),
    joined: node("", { args: ["-v", "-x{x}"], parameters: fine }),
    after: node("", { args: ["-v", "--", "{x}"], parameters: fine }),
    whole: node("", { args: ["--every=1", "{x}"], parameters: fine }),
  });
  const long = await plugin({
    long: node("", { args: ["--x={x}"], parameters: { x: { type: "string", pattern: "a*" } } }),
  });
  const given = { x: "a".repeat(4_000_000) };
  expect(await refusal(call(long, "proc/start", given, { name: "long" }))).toMatchObject({
    code: "program_failed",
    message: "long could not be started: its arguments are too long",
  });
  const gone = join(temporaryFolder(), "gone");
  const proc = await plugin({ nowhere: node("", { cwd: gone }) });
  expect(existsSync(gone)).toBe(false);
  expect((await refusal(call(proc, "proc/start", {}, { name: "nowhere" }))).code).toBe(
    "program_failed",
  );
});
