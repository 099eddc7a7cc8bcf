import { posix } from "node:path";
import { expect, test } from "vitest";
import { isBelow, isPath } from "../../../src/caveats/path-form.js";
import { readUrl } from "../../../src/caveats/url-form.js";
import { Random } from "../../fuzz/random.js";
import { SEED } from "../../support/seed.js";
import { sized } from "../../support/size.js";
import { startPython } from "./python.js";
import { pathNear, randomPath } from "./random-paths.js";
import { randomHosts, randomUrl } from "./random-urls.js";

const STRINGS = sized(80_000, 2_000, 200_000);
const BATCH = 2_000;
const ROOT = "/srv/agent/files";

test(`JavaScript's URL and Python's urlsplit read ${STRINGS} random strings alike if they pass the operator url`, {
  timeout: 0,
}, async () => {
  const random = new Random(SEED);
  const python = startPython("read_names.py");
  let passed = 0;
  let unreadable = 0;
  try {
    for (let done = 0; done < STRINGS; done += BATCH) {
      const texts = random.many(BATCH, () => randomUrl(random, randomHosts(random)));
      const answers = await python.ask(texts.map((url) => ({ url })));
      for (const [at, text] of texts.entries()) {
        const own = readUrl(text);
        if (own === undefined) {
          expect({ text, answer: answers[at] }).toEqual({ text, answer: null });
          continue;
        }
        const given = /:\d+$/.exec(text.slice(0, text.indexOf("/", "https://".length)));
        const host = own.host.replace(/^\[|\]$/g, "");
        const port = given === null ? null : Number(own.port);
        const read = { scheme: own.scheme, host, port, path: own.path };
        expect({ text, answer: answers[at] }).toEqual({ text, answer: read });
        passed += 1;
        if (!URL.canParse(text)) {
          // The host has a label that begins with xn-- but is not Punycode, so Node refuses even the host that the
          // constraint names.
          expect(own.host, text).toMatch(/(^|\.)xn--/);
          unreadable += 1;
          continue;
        }
        const { protocol, hostname, port: own_port, pathname, username, password } = new URL(text);
        expect({ text, protocol, hostname, port: own_port, pathname, username, password }).toEqual({
          text,
          protocol: `${own.scheme}:`,
          hostname: own.host,
          port: given === null ? "" : own.port,
          pathname: own.path,
          username: "",
          password: "",
        });
      }
    }
  } finally {
    await python.close();
  }
  console.log(
    `URLs from seed ${SEED}: ${passed} of ${STRINGS} pass, ${unreadable} of them no URL to Node`,
  );
  expect(passed).toBeGreaterThan(STRINGS / 5);
});

test(`of ${STRINGS} random strings, those that pass the operator path stay below their folder`, {
  timeout: 0,
}, async () => {
  const random = new Random(SEED);
  const python = startPython("read_names.py");
  let below = 0;
  try {
    for (let done = 0; done < STRINGS; done += BATCH) {
      const cases = random.many(BATCH, () => {
        const folder = randomPath(random, 60);
        return { folder, path: pathNear(random, folder) };
      });
      const answers = await python.ask(cases.map(({ path }) => ({ path, root: ROOT })));
      for (const [at, { folder, path }] of cases.entries()) {
        const answer = answers[at];
        if (!isPath(path)) {
          expect({ path, answer }).toEqual({ path, answer: null });
          continue;
        }
        const resolved = posix.resolve(ROOT, path);
        expect({ path, answer }).toEqual({ path, answer: resolved });
        if (!isPath(folder) || !isBelow(folder, path)) continue;
        below += 1;
        const top = posix.resolve(ROOT, folder);
        expect(resolved === top || resolved.startsWith(top === "/" ? top : `${top}/`), path).toBe(
          true,
        );
        // Node has normalized nothing away: the resolved path is the path that the constraint judged.
        expect(resolved).toBe(path.startsWith("/") ? path : `${ROOT}/${path}`);
      }
    }
  } finally {
    await python.close();
  }
  console.log(`paths from seed ${SEED}: ${below} of ${STRINGS} lie below their folder`);
  expect(below).toBeGreaterThan(STRINGS / 3);
});
