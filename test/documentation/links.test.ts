import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// Every link of every page leads to a file or heading of the repository. `npm run docs` checks the links of the
// site. npm resolves the links in a package's README against the repository's address.

const root = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = ["", "cli", "docs", "examples", "spec-vectors"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: !["", "cli"].includes(folder), encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !/^(?:api|documents-agent)\/(?!README)/.test(name))
    .map((name) => join(folder, name)),
);

/** Returns the links of a page to files and headings of the repository. Links within code are ignored. */
function linksOf(page: string): string[] {
  const prose = readFileSync(join(root, page), "utf8")
    .replace(/^```[\s\S]*?^```$/gm, "")
    .replace(/`[^`\n]*`/g, "");
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)|\ssrc="([^"]+)"/g)];
  return links
    .map(([, link = "", src = ""]) => link || src)
    .filter((link) => !/^[a-z]+:/.test(link));
}

/** Returns the anchors of the headings of a page. */
function headingsOf(page: string): Set<string> {
  const text = readFileSync(join(root, page), "utf8").replace(/^```[\s\S]*?^```$/gm, "");
  const counts = new Map<string, number>();
  const names = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    const before = counts.get(slug) ?? 0;
    counts.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
  return new Set(names);
}

/** Returns the broken links of a page. @param isThere - Returns whether a file exists. */
function brokenIn(page: string, isThere: (file: string) => boolean): string[] {
  return linksOf(page).filter((link) => {
    const [path = "", anchor = ""] = link.split("#");
    const file = path === "" ? page : normalize(join(dirname(page), path));
    if (!isThere(file.replace(/\/$/, ""))) return true;
    return anchor !== "" && file.endsWith(".md") && !headingsOf(file).has(anchor);
  });
}

test.each(PAGES)("the links of %s lead to existing files and headings", (page) => {
  expect(brokenIn(page, (file) => existsSync(join(root, file)))).toEqual([]);
});

test("the check of links finds a broken link", () => {
  expect(linksOf("README.md").length).toBeGreaterThan(20);
  expect(brokenIn("README.md", (file) => file !== "docs/agent.md")).toContain("docs/agent.md");
  expect(headingsOf("docs/a2a.md").has("12-guard-an-agent-you-already-have")).toBe(true);
});
