import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createOpenIdLogin } from "../../src/console/index.js";
import {
  type AuthorizationServer,
  PASSWORD,
  startAuthorizationServer,
} from "../support/authorization-server.js";
import { chromiumInstalled, startChromium } from "../support/chromium.js";
import { freePort } from "../support/free-port.js";
import { httpServer } from "../support/loopback-servers.js";
import { FULL } from "../support/size.js";
import { startConsole, type TestConsole, tokenOf } from "./support.js";

/** Every run takes the screenshot. Only a run with PROVISO_SCREENSHOTS=write saves it to this file. */
const SCREENSHOT = fileURLToPath(new URL("../../docs/approvals-console.png", import.meta.url));

// Scripts that the tests run in the page.
const FOCUSED = `(() => {
  const { id, textContent, ariaLabel } = document.activeElement;
  return (id + " " + (ariaLabel ?? textContent)).replace(/\\s+/g, " ").trim();
})()`;
const OUTLINE = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return outlineStyle + " " + outlineWidth;
})()`;
const ALL = '["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]';
const COLOURS = '{ type: "rule", values: ["color-contrast"] }';
const SCHEMES = [
  ["light", 320, ALL],
  ["dark", 1000, COLOURS],
] as const;
const OVERFLOWS = "document.documentElement.scrollWidth > innerWidth";
const violations = (rules: string): string => `axe
  .run({ runOnly: ${rules} })
  .then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ": " + html + failureSummary)),
  )`;

/** Opens every closed section of a page. */
async function openAll(page: Page): Promise<void> {
  const closed = page.locator("details:not([open]) > summary");
  while ((await closed.count()) > 0) await closed.first().click();
}

const LIMITS = { amount: { max: 5000 }, currency: { in: ["EUR", "USD"] } };

describe.skipIf(!chromiumInstalled())("the console in a browser", () => {
  let browser: Browser;
  let console: TestConsole;
  let context: BrowserContext;
  /** Error messages of the browser, except those about refused requests. */
  let complaints: string[] = [];

  beforeAll(async () => {
    [browser, console] = await Promise.all([startChromium(), startConsole()]);
  });

  afterAll(async () => {
    await browser.close();
    await console.close();
  });

  afterEach(async () => {
    await context.close();
    complaints = [];
  });

  async function newPage(width = 1000): Promise<Page> {
    context = await browser.newContext({ viewport: { width, height: 800 } });
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    page.on("console", (message) => {
      if (!/the server responded with a status of/.test(message.text()))
        complaints.push(message.text());
    });
    return page;
  }

  async function signedIn(width?: number): Promise<Page> {
    const page = await newPage(width);
    await page.goto(console.url);
    await page.getByLabel("Development token").fill(tokenOf("alice"));
    await page.getByRole("button", { name: "Sign in" }).click();
    return page;
  }

  if (FULL) {
    test("the agent's link leads, by sign-ins at the identity provider, to a grant with the user's limits", async () => {
      const port = await freePort();
      const provider: AuthorizationServer = await startAuthorizationServer({
        users: ["alice"],
        clients: ["console"],
        resource: "https://unused.example/",
        redirects: [`http://127.0.0.1:${port}/approvals/callback`],
      });
      const clientSecret = provider.secretOf("console");
      const login = await createOpenIdLogin({
        issuer: provider.issuer,
        clientId: "console",
        clientSecret,
      });
      const own = await startConsole({ port, login, running: true });
      try {
        const asked = await own.ask({
          constraints: LIMITS,
          purpose: "Pay the open invoices of Northwind",
          bindingMessage: "BLUE-HERON-42",
        });
        const page = await newPage();
        await page.goto(`${own.url}/device?user_code=${asked.userCode}`);
        const signIn = async (): Promise<void> => {
          await page.getByLabel("User").fill("alice");
          await page.getByLabel("Password").fill(PASSWORD);
          await page.getByRole("button", { name: "Sign in" }).click();
        };
        await signIn();
        await page.getByRole("button", { name: "Continue" }).click();
        await openAll(page);
        const amount = page.getByRole("group", { name: /^Argument.*amount/ });
        await amount.getByLabel("At most").fill("1000");
        const payee = page.getByRole("group", { name: /^Argument.*to\b/ });
        await payee.getByLabel("Only these values").fill("acc_northwind");
        await page.getByLabel("Ends after at most").fill("15");
        await page.getByRole("button", { name: "Show what is left" }).click();
        const left = await page.getByRole("status").innerText();
        expect(left).toMatch(/amount at most 1000; [\s\S]*to exactly "acc_northwind"/);
        const picture = await page.screenshot({ fullPage: true });
        expect(picture.subarray(1, 4).toString()).toBe("PNG");
        if (process.env["PROVISO_SCREENSHOTS"] === "write") writeFileSync(SCREENSHOT, picture);
        await page.getByRole("button", { name: "Approve" }).click();
        // The provider knows the user, but asks for the credentials again. No link lets the user skip that.
        await signIn();
        await page.getByText("You have signed in to approve.").waitFor();
        expect((await own.parties.approvals.get(asked.approval.id))?.state).toBe("pending");
        await page.getByRole("button", { name: "Approve" }).click();
        await page.getByRole("heading", { name: "You approved" }).waitFor();
        const [grant] = await own.parties.grantsOf(asked.agent);
        expect(grant?.status).toBe("active");
        expect(grant?.hops.at(-1)?.hop.constraints).toEqual({
          amount: { max: 1000 },
          to: "acc_northwind",
        });
        expect(complaints).toEqual([]);
      } finally {
        await own.close();
        await provider.close();
      }
    });
  }

  if (FULL) {
    test("a user can sign in, limit and approve by keyboard alone; Enter in a field approves nothing", async () => {
      const asked = await console.askInList("alice", { purpose: "By keyboard" });
      const page = await newPage();
      await page.goto(console.url);
      const { keyboard } = page;
      const focused = (): Promise<string> => page.evaluate<string>(FOCUSED);
      const tabTo = async (wanted: RegExp): Promise<void> => {
        for (let steps = 0; steps < 80; steps++) {
          await keyboard.press("Tab");
          if (!wanted.test(await focused())) continue;
          const outline = await page.evaluate<string>(OUTLINE);
          expect(outline).toBe("solid 3px");
          return;
        }
        throw new Error(`the keyboard does not reach ${wanted}`);
      };
      await keyboard.press("Tab");
      expect(await focused()).toBe("Skip to the content");
      await tabTo(/^token/);
      await keyboard.type(tokenOf("alice"));
      await keyboard.press("Enter");
      await page.getByRole("heading", { name: "Waiting" }).waitFor();
      await tabTo(/transfer_funds/);
      await keyboard.press("Enter");
      await page.getByRole("heading", { name: "A request to approve" }).waitFor();
      await tabTo(/^ ?Limit it$/);
      await keyboard.press("Enter");
      await tabTo(/^g-0-0-max/);
      await keyboard.type("70");
      await keyboard.press("Enter");
      await page.getByText("Nothing is decided yet.").waitFor();
      expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("pending");
      await tabTo(/^Approve$/);
      await keyboard.press("Space");
      await page.getByRole("heading", { name: "You approved" }).waitFor();
      const [grant] = await console.parties.grantsOf(asked.agent);
      expect(grant?.hops.at(-1)?.hop.constraints).toEqual({ amount: { max: 70 } });
    });
  }

  if (FULL) {
    test("on a phone, Approve and Deny are on the first screen, and one press opens the form for limits", async () => {
      const limits = { constraints: LIMITS, purpose: "Pay the open invoices of Northwind" };
      const asked = await console.askInList("alice", limits);
      const page = await signedIn(375);
      await page.setViewportSize({ width: 375, height: 812 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.goto(`${console.url}/requests/${asked.approval.id}`);
        for (const name of ["Approve", "Deny"]) {
          const box = await page.getByRole("button", { name }).boundingBox();
          expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThan(812);
        }
        // At first, only the buttons of the form are visible.
        expect(await page.getByLabel("Ends after at most").isVisible()).toBe(false);
        await page.getByText("Limit it", { exact: true }).last().click();
        expect(await page.getByLabel("Ends after at most").isVisible()).toBe(true);
      }
      // A request from an unlinked host, with every optional part.
      const stranger = await console.ask({ ...limits, bindingMessage: "BLUE-HERON-42" });
      await page.goto(`${console.url}/device?user_code=${stranger.userCode}`);
      await page.getByRole("button", { name: "Continue" }).click();
      const box = await page.getByRole("button", { name: "Approve" }).boundingBox();
      expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThan(1.3 * 812);
    });
  }

  if (FULL) {
    test("axe-core finds no violation on 16 pages, in light at 320 px wide and in dark at 1000 px wide", async () => {
      const capabilities = ["transfer_funds", "read_balance"];
      const asked = await console.askInList("alice", {
        capabilities,
        purpose: "p\u0430ypal \u202e\n<b>",
        bindingMessage: "BLUE-HERON-42",
        hostName: "h".repeat(100),
        name: "n".repeat(100),
      });
      const page = await newPage();
      const seen: string[] = [];
      const check = async (name: string): Promise<void> => {
        // The schemes differ only in colours, so the dark one is checked only for contrast.
        for (const [colorScheme, width, rules] of SCHEMES) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 800 });
          if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe.source);
          const found = await page.evaluate<string[]>(violations(rules));
          if (await page.evaluate<boolean>(OVERFLOWS)) found.push("it is wider than the window");
          expect(found, `${name}, ${colorScheme}, ${width} wide`).toEqual([]);
        }
        seen.push(name);
      };
      const at = `${console.url}/requests/${asked.approval.id}`;
      await page.goto(console.url);
      await check("sign-in");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByLabel("Development token").fill("wrong");
      await page.getByRole("button", { name: "Sign in" }).click();
      await check("sign-in refused");
      await page.getByLabel("Development token").fill(tokenOf("alice"));
      await page.getByRole("button", { name: "Sign in" }).click();
      await check("waiting");
      await page.goto(`${console.url}/device?user_code=BCDF-GHJK`);
      await check("code");
      await page.getByRole("button", { name: "Continue" }).click();
      await check("wrong code");
      await page.goto(at);
      await check("request");
      await openAll(page);
      await check("request in full");
      const amount = page.getByRole("group", { name: /^Argument.*amount/ });
      await amount.getByLabel("At most").fill("many");
      await page.getByRole("button", { name: "Show what is left" }).click();
      await check("wrong limits");
      await amount.getByLabel("At most").fill("10");
      await page.getByRole("button", { name: "Show what is left" }).click();
      await check("what is left");
      await page.getByRole("button", { name: "Approve" }).click();
      await check("decided");
      for (const place of ["grants", "hosts", "history", "nowhere"]) {
        await page.goto(`${console.url}/${place}`);
        await check(place);
      }
      await page.goto(`${console.url}/hosts`);
      await page.getByLabel("Its name").fill("Laptop");
      await page.getByRole("button", { name: "Add the host" }).click();
      await check("new host");
      await page.getByRole("button", { name: "Sign out" }).click();
      await check("signed out");
      expect(seen).toHaveLength(16);
      expect(complaints).toEqual([]);
    });
  }

  test("a script injected into a page does not run", async () => {
    const page = await signedIn();
    await page.route("**/grants", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(
        "</main>",
        '<script>window.ran = 1</script><img src="x" onerror="window.ran = 2"></main>',
      );
      await route.fulfill({ response, body });
    });
    await page.goto(`${console.url}/grants`);
    await page.getByRole("heading", { name: "Active grants" }).waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(complaints.join("\n")).toMatch(
      /script[\s\S]*violates the following Content Security Policy/,
    );
  });

  if (FULL) {
    test("a page of another site can neither show the console in a frame nor send the console's forms", async () => {
      const asked = await console.askInList("alice");
      const page = await signedIn();
      const target = `${console.url}/requests/${asked.approval.id}`;
      const evil = await httpServer((_, response) => {
        response.setHeader("Content-Type", "text/html");
        response.end(`<iframe src="${console.url}/grants"></iframe>
<form method="post" action="${target}"><input name="answer" value="approve"><button>Win</button></form>`);
      });
      await page.goto(evil.url);
      await page.waitForLoadState("networkidle");
      const inside = page.frames().find((frame) => frame !== page.mainFrame());
      expect(await inside?.content()).not.toContain("Active grants");
      expect(await console.recorded()).toContain("approval.refused framed");
      await page.getByRole("button", { name: "Win" }).click();
      await page.getByRole("heading", { name: "Sent from another site" }).waitFor();
      expect((await console.parties.approvals.get(asked.approval.id))?.state).toBe("pending");
      expect(await console.recorded()).toContain("approval.refused cross_site");
    });
  }
});
