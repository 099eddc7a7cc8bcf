// Implementations with one fault each, as programs for `node -e`. `answer` gives the right answer.

const RIGHT = `
const { readFileSync } = require("node:fs");
let tests;
const read = () => {
  const files = ["macaroon.json", "check.json", "capability-discovery.json"].map((name) =>
    JSON.parse(readFileSync(process.env.SPEC_VECTORS + "/" + name, "utf8")));
  return new Map(files.flatMap((file) => file.testGroups.flatMap((group) => group.tests))
    .map((test) => [test.tcId, test]));
};
const answer = ({ id }) => {
  tests ??= read();
  const { result, code, tags, denials, revocationIds, chainId, ...rest } = tests.get(id);
  const { interface, version, warnings, rules } = rest;
  return { id, result, code, tags, denials, revocationIds, chainId, interface, version, warnings, rules };
};
const say = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
const serve = (reply) => {
  let count = 0;
  require("node:readline").createInterface({ input: process.stdin })
    .on("line", (line) => reply(JSON.parse(line), ++count));
};
`;

/** Programs by their fault. */
const IMPLEMENTATIONS = {
  right: "serve((request) => say(answer(request)));",
  talkative:
    'serve((request) => { console.error("thinking"); say({ ...answer(request), note: "x" }); });',
  wrong:
    'serve((request, at) => say(at === 2 ? { id: request.id, result: "valid", tags: [] } : answer(request)));',
  wrongCode:
    'serve((request) => say({ id: request.id, result: "invalid", code: "no_such_code" }));',
  unsupported: 'serve(({ id }) => say({ id, unsupported: "everything" }));',
  partly:
    'serve((request) => say(request.op === "verify" ? answer(request) : { id: request.id, unsupported: "check" }));',
  crashesAtOnce: "process.exit(3);",
  crashesOnce:
    "serve((request) => { if (request.id === 2) process.exit(3); say(answer(request)); });",
  killsItself: 'serve(() => process.kill(process.pid, "SIGKILL"));',
  hangs: "serve((request) => { if (request.id !== 2) say(answer(request)); });",
  silent: "serve(() => {});",
  ignoresTheEnd: "serve((request) => say(answer(request))); setInterval(() => {}, 1000);",
  garbage: 'serve(() => process.stdout.write("hello\\n"));',
  garbageOnce:
    'serve((request) => request.id === 2 ? process.stdout.write("{\\n") : say(answer(request)));',
  emptyAnswer: "serve(({ id }) => say({ id }));",
  outOfOrder: "serve((request) => say({ ...answer(request), id: request.id + 1 }));",
  banner: 'say("ready"); serve((request) => say(answer(request)));',
  twice: "serve((request) => { say(answer(request)); say(answer(request)); });",
  endless:
    'serve(() => { const fill = () => process.stdout.write("x".repeat(65536), fill); fill(); });',
} as const;

export type ImplementationName = keyof typeof IMPLEMENTATIONS;

/** Returns the source of an implementation. */
export function sourceOf(name: ImplementationName): string {
  return `${RIGHT}\n${IMPLEMENTATIONS[name]}\n`;
}
