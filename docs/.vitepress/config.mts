// The site: the repository's own Markdown in its place, with the reference that TypeDoc writes into docs/api.
// `npm run docs` builds it (scripts/docs.mjs).
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type DefaultTheme, defineConfig } from "vitepress";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

const apiSidebar = `${root}docs/api/typedoc-sidebar.json`;
const api: DefaultTheme.SidebarItem[] = existsSync(apiSidebar)
  ? JSON.parse(readFileSync(apiSidebar, "utf8"))
  : [];

const page = (text: string, link: string): DefaultTheme.SidebarItem => ({ text, link });

const guides = [
  page("Install", "/docs/install"),
  page("Questions", "/docs/guides/questions"),
  page("A capability for a sub-agent", "/docs/guides/sub-agent"),
  page("Protect an MCP server", "/docs/guides/mcp"),
  page("Limit what a tool may be called with", "/docs/guides/limit-arguments"),
  page("The command line", "/docs/guides/command-line"),
  page("A resource server", "/docs/resource-server"),
  page("An agent of your own", "/docs/agent"),
  page("An A2A agent that you already have", "/docs/guides/guard"),
  page("Keys, backup, a second machine", "/docs/guides/operations"),
  page("What to log and alert on", "/docs/guides/monitoring"),
  page("Reading a denial", "/docs/guides/denials"),
  page("A payment that its user approved", "/docs/guides/payments"),
  page("Serving A2E sessions", "/docs/sessions"),
];

const protocols = [
  page("A2A", "/docs/a2a"),
  page("A2A conformance", "/docs/a2a-conformance"),
  page("Declaring capabilities", "/docs/declaring-capabilities"),
  page("A2E sessions", "/docs/a2e"),
  page("The gate for MCP", "/docs/mcp-gate"),
  page("Agent-Auth", "/docs/agent-auth"),
  page("Agent-Auth: differences", "/docs/agent-auth-differences"),
  page("Delegation", "/docs/delegation"),
  page("Approvals", "/docs/approvals"),
  page("The approvals console", "/docs/approvals-console"),
];

const reference = [
  page("Entries of the package", "/docs/entries"),
  page("The command", "/docs/reference/command"),
  page("Configuration", "/docs/reference/configuration"),
  page("HTTP headers and codes", "/docs/reference/http"),
  page("Limits", "/docs/reference/limits"),
  page("Environment variables", "/docs/reference/environment"),
  page("Specification", "/docs/spec"),
  page("Conformance vectors", "/spec-vectors/README"),
];

const background = [
  page("Threat model", "/docs/threat-model"),
  page("Proof against injection", "/docs/injection"),
  page("Performance", "/docs/performance"),
  page("Testing", "/docs/testing"),
  page("Changelog", "/CHANGELOG"),
  page("Contributing", "/CONTRIBUTING"),
  page("Security", "/SECURITY"),
];

/** Ranks the pages that answer questions before the references, whose headings repeat the same words. */
function weightOf(id: string): number {
  if (id.includes("/docs/guides/questions")) return 4;
  if (id.includes("/docs/guides/") || id.includes("/docs/install")) return 2;
  if (id.includes("/docs/api/")) return 0.15;
  return /differences|CHANGELOG|CONTRIBUTING|spec-vectors|conformance/.test(id) ? 0.5 : 1;
}

export default defineConfig({
  title: "proviso",
  description: "Capabilities for AI agents that any holder can narrow offline",
  lang: "en",
  srcDir: "..",
  outDir: "../reports/site",
  cacheDir: "../node_modules/.cache/vitepress",
  srcExclude: [
    "**/node_modules/**",
    "dist/**",
    "reports/**",
    "src/**",
    "test/**",
    "examples/documents-agent/documents/**",
  ],
  rewrites: { "README.md": "index.md" },
  lastUpdated: false,
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/logo.svg" }]],
  markdown: {
    // Angle brackets in prose are text; no page contains HTML.
    html: false,
    // Makes anchors of headings the same as in a repository's browser.
    anchor: {
      slugify: (text) =>
        text
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, "")
          .replace(/\s/g, "-"),
    },
    config(md) {
      // Removes the marks around generated parts.
      md.core.ruler.before("normalize", "marks", (state) => {
        state.src = state.src.replace(/^<!-- .* -->$/gm, "");
      });
      // README.md is the site's first page.
      const open = md.renderer.rules["link_open"];
      md.renderer.rules["link_open"] = (tokens, at, options, env, self) => {
        const token = tokens[at];
        const href = token?.attrGet("href");
        if (token !== undefined && href !== undefined && href !== null) {
          token.attrSet("href", href.replace(/^(?:\.\.\/)*README\.md(?=$|#)/, "/"));
        }
        return open ? open(tokens, at, options, env, self) : self.renderToken(tokens, at, options);
      };
    },
  },
  themeConfig: {
    logo: "/logo.svg",
    search: {
      provider: "local",
      options: { miniSearch: { searchOptions: { boostDocument: weightOf } } },
    },
    outline: { level: [2, 3] },
    nav: [
      { text: "Guides", link: "/docs/guides/sub-agent" },
      { text: "Questions", link: "/docs/guides/questions" },
      { text: "Command", link: "/docs/reference/command" },
      { text: "API", link: "/docs/api/" },
      { text: "Specification", link: "/docs/spec" },
      { text: `v${version}`, link: "/CHANGELOG" },
    ],
    sidebar: [
      { text: "Start", link: "/" },
      { text: "Guides", items: guides },
      { text: "Protocols", items: protocols },
      { text: "Reference", items: reference },
      { text: "API", collapsed: true, items: api },
      { text: "Background", items: background },
    ],
  },
});
