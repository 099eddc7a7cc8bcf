// A server over standard streams. Its arguments and the methods that it receives tell it how to behave, well or badly.
import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { createInterface } from "node:readline";

const [mode] = process.argv.slice(2);
const say = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const live = () => setInterval(() => {}, 1000);

if (mode === "stubborn") {
  process.on("SIGTERM", () => {});
  live();
}

const METHODS = {
  echo: (params) => params,
  environment: () => process.env,
  pid: () => ({ pid: process.pid }),
  large: ({ bytes }) => ({ text: "x".repeat(bytes) }),
  // Starts a process that ends neither with its input nor with its parent.
  child: () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
      stdio: "inherit",
    });
    return { pid: child.pid };
  },
};

const DEEDS = {
  exit: ({ code }) => process.exit(code),
  deafen: () => {
    live();
    closeSync(0);
  },
  pause: () => {
    live();
    process.stdin.pause();
  },
  hush: () => {
    live();
    process.stdout.end();
  },
  write: ({ text, bytes }) => process.stdout.write(text ?? Buffer.from(bytes)),
};

// Node's readline also ends a line at a raw U+2028.
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  const { id, method, params, error } = message;
  if (error !== undefined) return say({ method: "got", params: message });
  if (method in DEEDS) DEEDS[method](params);
  else say({ id, result: METHODS[method](params) });
});
