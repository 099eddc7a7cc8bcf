// npm run docs: builds the site in reports/site. TypeDoc writes the API reference of every entry into docs/api.
// VitePress makes pages from the Markdown files. Then every link of the site is checked.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const site = join(root, "reports", "site");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const started = Date.now();
rmSync(site, { recursive: true, force: true });
rmSync(join(root, "docs", "api"), { recursive: true, force: true });
run("typedoc", ...entryPoints().flatMap((file) => ["--entryPoints", file]));
mendAnchors();
describeEntries();
run("vitepress", "build", "docs");
copyFiles();
writeTexts();
const broken = brokenLinks();
for (const link of broken) console.error(`broken link: ${link}`);
if (broken.length > 0) process.exit(1);
const seconds = ((Date.now() - started) / 1000).toFixed(0);
console.log(`built reports/site in ${seconds} s: ${pages().length} pages, no broken link`);

/**
 * @param {string} name - The name of a program in node_modules/.bin.
 * @param {...string} args
 */
function run(name, ...args) {
  const program = join(root, "node_modules", ".bin", name);
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: "utf8" });
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}`);
  process.exit(status ?? 1);
}

/** Returns the source file of every entry of the package. */
function entryPoints() {
  const entries = Object.values(manifest.exports).flatMap((entry) => entry.types ?? []);
  return entries.map((/** @type {string} */ types) =>
    types.replace("./dist/", "").replace(".d.ts", ".ts"),
  );
}

/** Corrects links to headings. TypeDoc numbers some headings twice, and writes "_" in a name as "-". */
function mendAnchors() {
  const files = markdownIn("docs/api");
  const headings = new Map(
    files.map((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const names = [...text.matchAll(/^#+ (.+)$/gm)].map(([, name = ""]) =>
        name
          .toLowerCase()
          .replace(/[^\w\s-]/g, "")
          .replace(/\s/g, "-"),
      );
      return [file, new Set(names)];
    }),
  );
  for (const file of files) {
    const path = join(root, file);
    const text = readFileSync(path, "utf8");
    const mended = text.replace(/\]\(([^)#]*)#([^)]+)\)/g, (link, to, anchor) => {
      const known = headings.get(to === "" ? file : join(dirname(file), to));
      if (known === undefined || known.has(anchor)) return link;
      const base = anchor.replace(/-\d+$/, "");
      const found = [base, base.replaceAll("-", "_")].find((name) => known.has(name));
      return found === undefined ? link : `](${to}#${found})`;
    });
    if (mended !== text) writeFileSync(path, mended);
  }
}

/** Writes the index of the API as a table. The first paragraph of each entry's page says what the entry is for. */
function describeEntries() {
  const path = join(root, "docs", "api", "index.md");
  const entries = [...readFileSync(path, "utf8").matchAll(/^- \[(.+?)\]\((.+?)\)$/gm)];
  const rows = entries.map(([, name = "", link = ""]) => {
    const page = readFileSync(join(root, "docs", "api", link), "utf8");
    const [, purpose = ""] = page.split("\n\n");
    return `| [${name}](${link}) | ${purpose.replaceAll("\n", " ")} |`;
  });
  const head =
    "# API\n\n[Entries of the package](../entries.md) has the packages that each entry needs.\n\n";
  writeFileSync(path, `${head}| entry | purpose |\n| --- | --- |\n${rows.join("\n")}\n`);
}

/** Copies files that pages link to but that are not pages: the logo, the schemas and the vectors. */
function copyFiles() {
  cpSync(join(root, "docs", "logo.svg"), join(site, "logo.svg"));
  for (const folder of ["schemas", "spec-vectors"]) {
    cpSync(join(root, folder), join(site, folder), {
      recursive: true,
      filter: (path) => !/\.(?:[a-z]+|README)$/.test(path) || path.endsWith(".json"),
    });
  }
}

/**
 * Writes two files for language models. llms.txt (llmstxt.org) lists the pages; llms-full.txt has the text of
 * all pages except the reference.
 */
function writeTexts() {
  const sources = ["README.md", ...markdownIn("docs"), "spec-vectors/README.md"].filter(
    (file) => !file.startsWith("docs/api/") && !file.startsWith("docs/."),
  );
  const texts = sources.map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));
  const lines = texts.map(({ file, text }) => {
    const title = /^# (.+)$/m.exec(text)?.[1] ?? file;
    return `- [${title}](/${file === "README.md" ? "" : file.replace(/\.md$/, ".html")})`;
  });
  const head = `# proviso\n\n> ${manifest.description}\n\n## Pages\n\n`;
  writeFileSync(join(site, "llms.txt"), `${head}${lines.join("\n")}\n- [API](/docs/api/)\n`);
  const whole = texts.map(({ file, text }) => `<!-- ${file} -->\n\n${text}`).join("\n");
  writeFileSync(join(site, "llms-full.txt"), whole);
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function markdownIn(folder) {
  const found = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  const files = found.filter((name) => name.endsWith(".md")).sort();
  return files.map((name) => `${folder}/${name}`);
}

function pages() {
  const found = readdirSync(site, { recursive: true, encoding: "utf8" });
  return found.filter((name) => name.endsWith(".html"));
}

/** Returns the broken links. A link is broken if its file does not exist, or if the file lacks the heading. */
function brokenLinks() {
  /** @type {Map<string, Set<string>>} */
  const anchors = new Map();
  for (const page of pages()) {
    const html = readFileSync(join(site, page), "utf8");
    anchors.set(page, new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => id)));
  }
  /** @type {string[]} */
  const found = [];
  for (const page of anchors.keys()) {
    const html = readFileSync(join(site, page), "utf8");
    for (const [, href = ""] of html.matchAll(/\s(?:href|src)="([^"]+)"/g)) {
      if (/^(?:[a-z]+:|\/\/)/.test(href)) continue;
      const [path = "", anchor = ""] = href.replaceAll("&amp;", "&").split("#");
      const target = fileOf(decodeURIComponent(path), page);
      if (target === undefined) found.push(`${page}: ${href}`);
      else if (anchor !== "" && anchors.get(target)?.has(decodeURIComponent(anchor)) === false) {
        found.push(`${page}: ${href} (no such heading)`);
      }
    }
  }
  return found;
}

/**
 * @param {string} path - The path as written in the link.
 * @param {string} page
 */
function fileOf(path, page) {
  if (path === "") return page;
  const from = path.startsWith("/") ? site : join(site, dirname(page));
  const place = relative(site, join(from, path));
  const choices = [place, `${place}.html`, join(place, "index.html")];
  return choices.find((name) => /\.\w+$/.test(name) && existsSync(join(site, name)));
}
