// What documents outside a capability cost a search: the same search within the same documents, while the
// index holds none, some and many others that match. Prints medians of the rounds, in one run and in turns.
// Goal: no difference. Run with: npm run build && node bench/search.mjs
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFolder } from "proviso/sources";
import { followFolder } from "../examples/documents-agent/followed-index.mjs";
import { openIndex } from "../examples/documents-agent/search-index.mjs";

const { version } = createRequire(import.meta.url)("../package.json");
const ROUNDS = 101;
const IN_SCOPE = 12;
const HIDDEN = [0, 400, 4000];
const QUERY = 'revenue "operating profit" quart*';

/** @param {number[]} values */
function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** @param {number} at */
function text(at) {
  const paragraph = `In quarter ${at % 4} revenue rose, and operating profit with it, by ${at}. `;
  return `---\ntitle: Report ${at}\nyear: ${2000 + (at % 25)}\n---\n${paragraph.repeat(12)}\n`;
}

/**
 * Searches within the same few documents, whatever else there is.
 * @param {string} home
 * @param {number} hidden
 */
async function library(home, hidden) {
  const path = join(home, `documents-${hidden}`);
  for (const collection of ["open", "hidden"])
    mkdirSync(join(path, collection), { recursive: true });
  for (let at = 0; at < IN_SCOPE; at++) writeFileSync(join(path, `open/${at}.md`), text(at));
  for (let at = 0; at < hidden; at++) writeFileSync(join(path, `hidden/${at}.md`), text(at));
  const folder = await openFolder(path);
  const index = openIndex(join(home, `index-${hidden}.db`));
  const followed = followFolder(index, folder, path);
  // Files that have just been written are read again at each search.
  await new Promise((resolve) => setTimeout(resolve, 2100));
  await followed.update();
  const found = await folder.find({ collection: "open" });
  if (!found.ok) throw new Error(found.denial.message);
  return {
    hidden,
    /** @type {number[]} */
    times: [],
    search: () => followed.search(QUERY, found.resources, 10),
    close: () => index.close(),
  };
}

const home = mkdtempSync(join(tmpdir(), "proviso-bench-"));
try {
  const libraries = [];
  for (const hidden of HIDDEN) libraries.push(await library(home, hidden));
  const answers = await Promise.all(libraries.map(({ search }) => search()));
  if (new Set(answers.map((answer) => JSON.stringify(answer))).size !== 1) {
    throw new Error("the answers reveal what is hidden");
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of libraries) {
      const began = performance.now();
      await one.search();
      one.times.push(performance.now() - began);
    }
  }
  console.log(`Node ${process.version}, proviso ${version}, medians of ${ROUNDS} rounds in turns`);
  const [none] = libraries;
  for (const { hidden, times, close } of libraries) {
    const ratio = (median(times) / median(none?.times ?? [])).toFixed(2);
    console.log(
      `search in ${IN_SCOPE} documents, ${hidden} hidden ones that match: ` +
        `${median(times).toFixed(2)} ms, ${ratio} times that with none`,
    );
    close();
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
