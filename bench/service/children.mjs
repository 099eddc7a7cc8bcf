// The processes of the service bench: servers and the load, controlled by messages.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** @import { ChildProcess } from "node:child_process" */
/** @import { Kind, Size } from "./servers.mjs" */

/** @param {string} file @param {string[]} given */
async function start(file, given) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(path, given, { execArgv: ["--expose-gc"], serialization: "advanced" });
  await answerOf(child);
  return child;
}

/** @param {ChildProcess} child @returns {Promise<any>} */
function answerOf(child) {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error("a process of the bench ended"));
    child.once("exit", gone);
    child.once("message", (answer) => {
      child.off("exit", gone);
      resolve(answer);
    });
  });
}

/** @param {ChildProcess} child @param {string | object} what */
async function ask(child, what) {
  const answer = answerOf(child);
  child.send(what);
  const given = await answer;
  if (typeof given?.error === "string") throw new Error(given.error);
  return given;
}

/** Calls servers one after another from one load process. */
export async function startLoad() {
  const child = await start("load.mjs", []);
  let stretches = 0;
  return {
    /** @param {{ url: string, token: string }} address @param {object} stretch */
    calls: (address, stretch) => {
      stretches += 1;
      const prefix = `bench-${process.pid}-${stretches}`;
      return ask(child, { connections: 10, ...stretch, ...address, prefix });
    },
    stop: () => child.disconnect(),
  };
}

/** @param {Kind} kind @param {Size} size */
export async function startChild(kind, size) {
  const child = await start("server.mjs", [kind, JSON.stringify(size)]);
  const address = await ask(child, "address");
  return { kind, address, ask: (/** @type {string} */ what) => ask(child, what) };
}
