import { randomBytes } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import type { Context, Provider } from "oidc-provider";

/** The redirect target, at which no server listens. */
export const CALLBACK: string = "https://agent.example/callback";

/** The clients and users of a provider. */
interface ProviderSettings {
  readonly resources: readonly string[];
  readonly scope: string;
  readonly secrets: ReadonlyMap<string, string>;
  readonly lifetime: number;
  /** Further redirect targets. */
  readonly redirects?: readonly string[];
  /** Claims of ID tokens about a user, besides `sub`. */
  readonly claimsOf?: ((user: string) => Readonly<Record<string, unknown>>) | undefined;
  /** `true` if ID tokens have `auth_time` even when no request asks for it. */
  readonly authTime?: boolean;
}

/** Returns oidc-provider, configured for agents: JWT access tokens for resources, PKCE, no consent pages. */
export async function newProvider(
  issuer: string,
  key: JWK,
  {
    resources,
    scope,
    secrets,
    lifetime,
    redirects = [],
    claimsOf,
    authTime = false,
  }: ProviderSettings,
): Promise<Provider> {
  const oidc = await withoutNotices(() => import("oidc-provider"));
  const alg = key.alg;
  const provider: Provider = await withoutNotices(
    async () =>
      new oidc.Provider(issuer, {
        jwks: { keys: [key] },
        clients: Array.from(secrets, ([client_id, client_secret]) => ({
          client_id,
          client_secret,
          grant_types: ["authorization_code", "client_credentials"],
          redirect_uris: [CALLBACK, ...redirects],
          id_token_signed_response_alg: alg,
          require_auth_time: authTime,
        })),
        scopes: ["openid"],
        enabledJWA: { idTokenSigningAlgValues: [alg] },
        cookies: { keys: [randomBytes(24).toString("base64url")] },
        ttl: {
          AccessToken: lifetime,
          ClientCredentials: lifetime,
          IdToken: lifetime,
          Grant: 600,
          Interaction: 600,
          Session: 600,
        },
        pkce: { required: () => true },
        findAccount: (_: unknown, accountId: string) => ({
          accountId,
          claims: () => ({ sub: accountId, ...claimsOf?.(accountId) }),
        }),
        claims: {
          openid: ["sub", "acr", "amr", ...Object.keys(claimsOf?.("") ?? {})],
          auth_time: null,
        },
        acrValues: ["phr"],
        conformIdTokenClaims: false,
        interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
        // Users have consented in advance to everything that their clients may request.
        loadExistingGrant: async ({ oidc: { client, session } }: Context) => {
          const { accountId } = session;
          const grant = new provider.Grant({ accountId, clientId: client.clientId });
          grant.addOIDCScope("openid");
          for (const resource of resources) grant.addResourceScope(resource, scope);
          await grant.save();
          return grant;
        },
        features: {
          devInteractions: { enabled: false },
          clientCredentials: { enabled: true },
          resourceIndicators: {
            enabled: true,
            useGrantedResource: () => true,
            getResourceServerInfo: (_: unknown, resource: string) => {
              if (!resources.includes(resource)) throw new Error(`unknown resource ${resource}`);
              return {
                scope,
                audience: resource,
                accessTokenFormat: "jwt",
                accessTokenTTL: lifetime,
                jwt: { sign: { alg } },
              };
            },
          },
        },
      }),
  );
  return provider;
}

/** Returns a new private key as a JWK. */
export async function signingKey(alg: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const kid = randomBytes(6).toString("base64url");
  return { ...(await exportJWK(privateKey)), kid, alg, use: "sig" };
}

/** Suppresses oidc-provider's console warnings about tests and about Node 20. */
async function withoutNotices<T>(action: () => Promise<T>): Promise<T> {
  const { warn } = console;
  console.warn = (...words: unknown[]) => {
    if (!String(words[0]).includes("oidc-provider WARNING")) warn(...words);
  };
  try {
    return await action();
  } finally {
    console.warn = warn;
  }
}
