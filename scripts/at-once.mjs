// `node scripts/at-once.mjs NAME…`: runs scripts of package.json in parallel, and fails if one of them fails.
// The output of the last script is printed as it comes; the output of each other script when the script ends.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** @type {{ scripts: Record<string, string> }} */
const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
const names = process.argv.slice(2);

/**
 * @param {string} name
 * @returns {Promise<boolean>} True if the script succeeded.
 */
function run(name) {
  const script = scripts[name];
  if (script === undefined) throw new TypeError(`package.json has no script "${name}"`);
  const started = performance.now();
  const output = name === names.at(-1) ? "inherit" : "pipe";
  const child = spawn(script, { shell: true, stdio: ["ignore", output, output] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text) => {
      said += text;
    });
  }
  return new Promise((resolve) => {
    child.once("close", (code) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      const end = code === 0 ? "passed" : `FAILED with ${code}`;
      process.stdout.write(`${said}${name}: ${end} after ${seconds} s\n`);
      resolve(code === 0);
    });
  });
}

const passed = await Promise.all(names.map(run));
if (passed.includes(false)) process.exitCode = 1;
