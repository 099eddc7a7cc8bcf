import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { MintRequest } from "../../../../src/capability/mint.js";
import { createHome } from "../../../../src/home/create-home.js";
import { type Home, openHome } from "../../../../src/home/open-home.js";
import type { GateAuthority } from "../../../../src/protocols/mcp/authority/gate-authority.js";
import {
  createTokenAuthority,
  type TokenAuthorityOptions,
} from "../../../../src/protocols/mcp/authority/token-authority.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

/** A home, and the authority of a gate that uses the home's issuer. */
export interface World {
  readonly home: Home;
  readonly authority: GateAuthority;
  /** Mints a token for the grant `mcp`. */
  mint(request: Omit<MintRequest, "grant"> & { readonly grant?: string }): string;
}

export async function world(options: Partial<TokenAuthorityOptions> = {}): Promise<World> {
  const folder = join(temporaryFolder(), "home");
  await createHome({ folder, issuer: "gate-home" });
  const home = await openHome({ folder });
  const { issuer, revocations, ledger } = home;
  const authority = createTokenAuthority({ issuer, revocations, ledger, grant: "mcp", ...options });
  onTestFinished(async () => {
    await authority.close();
    await home.close();
  });
  return { home, authority, mint: (request) => issuer.mint({ grant: "mcp", ...request }).token };
}
