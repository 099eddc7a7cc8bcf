import type { Context } from "../context.js";
import { CliError, EXIT } from "../exit.js";
import type { HomeChoice } from "../home.js";
import { printable, quoted, say } from "../output.js";
import { printTokens, type TokenOutput } from "../token-file.js";
import { type OpenParties, withParties } from "./parties.js";

export interface EnrolOptions extends HomeChoice, TokenOutput {
  readonly principal: string;
  readonly name?: string;
  readonly default?: readonly string[];
  readonly tenant?: string;
}

/** Creates a host for a user, and prints its enrolment token. */
export async function enrolHost(context: Context, options: EnrolOptions): Promise<void> {
  const { principal, name, tenant, default: defaults = [] } = options;
  const settings = { defaults, tenant };
  const make = async ({ parties }: OpenParties): Promise<void> => {
    const outcome = await parties.createHost({ principal, name, defaults, operator: true });
    if (!outcome.ok) {
      const { code, message } = outcome;
      throw new CliError({ code, message, exitCode: EXIT.refused });
    }
    const { host, enrolmentToken } = outcome;
    if (options.json !== true) {
      const who = host.name === undefined ? host.id : `${quoted(host.name)} (${host.id})`;
      say(
        context,
        `made ${who} for ${printable(principal)}; give it this token, which works once:`,
      );
    }
    await printTokens(context, options, { host, enrolmentToken }, [enrolmentToken ?? ""]);
  };
  await withParties(context, options, make, settings);
}
