// What documents outside a capability cost a search: the same search within the same documents, while the index
// holds none, some and many others that match. The aim is no difference.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFolder } from "proviso/sources";
import { followFolder } from "../../examples/documents-agent/followed-index.mjs";
import { openIndex } from "../../examples/documents-agent/search-index.mjs";
import { inTurns, median, ratio, rounded, timed } from "../measure.mjs";

/** @import { Figures } from "../measure.mjs" */

const IN_SCOPE = 12;
const HIDDEN = [0, 400, 4000];
const SEARCHES = 5;
const QUERY = 'revenue "operating profit" quart*';

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
    name: String(hidden),
    search: () => followed.search(QUERY, found.resources, 10),
    close: () => index.close(),
  };
}

/** @param {{ quick: boolean }} size @returns {Promise<Figures[]>} */
export async function run({ quick }) {
  const home = mkdtempSync(join(tmpdir(), "proviso-bench-"));
  try {
    const libraries = await Promise.all(HIDDEN.map((hidden) => library(home, hidden)));
    const answers = await Promise.all(libraries.map(({ search }) => search()));
    if (new Set(answers.map((answer) => JSON.stringify(answer))).size !== 1) {
      throw new Error("the answers reveal what is hidden");
    }
    const contenders = libraries.map(({ name, search }) =>
      timed(name, async () => {
        const began = performance.now();
        for (let done = 0; done < SEARCHES; done++) await search();
        return (performance.now() - began) / SEARCHES;
      }),
    );
    const rounds = await inTurns(contenders, { rounds: quick ? 5 : 21, milliseconds: 0 });
    for (const { close } of libraries) close();
    const most = String(HIDDEN.at(-1));
    return [
      {
        title: "What hidden documents cost a search",
        about: `Milliseconds of a search within ${IN_SCOPE} documents, beside others that match and are not in scope.`,
        columns: ["hidden documents", "ms", "ratio to none"],
        rows: libraries.map(({ name }) => [
          name,
          rounded(median(rounds[name] ?? []) / 1e6),
          rounded(ratio(rounds, name, "0") ?? Number.NaN),
        ]),
        ratios: {
          [`a search beside ${most} hidden documents: time to none`]: rounded(
            ratio(rounds, most, "0") ?? Number.NaN,
          ),
        },
      },
    ];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
