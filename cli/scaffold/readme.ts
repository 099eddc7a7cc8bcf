// The README file of a new agent, and the commands in it.

/** The port at which a new agent listens. */
export const PORT = 8080;

const URL = `http://127.0.0.1:${PORT}`;
const ACCESS = "--access-token @tokens.json";

/** The commands that the user runs next, in the agent's folder. */
export const NEXT: readonly [serve: string, request: string, invoke: string] = [
  "proviso serve agent.json",
  `proviso request ${URL} --grant numbers:use ${ACCESS} -o capability`,
  `proviso invoke ${URL} add @capability --arg a=2 --arg b=3 ${ACCESS}`,
];

const REFUSED = [
  "proviso attenuate @capability --arg 'a<=10' --expires 5m -o narrowed",
  `proviso invoke ${URL} add @narrowed --arg a=20 --arg b=3 ${ACCESS}`,
];

export function readme(name: string): string {
  const [serve, ...calls] = NEXT;
  return `# ${name}

An agent that grants capabilities and has one skill, \`add\`. The command that serves it is in the package
\`proviso-cli\`. Start it here:

\`\`\`sh
${serve}
\`\`\`

In a second terminal, ask it for a capability, and call the skill with it:

\`\`\`sh
${calls.join("\n")}
\`\`\`

Narrow the capability, with no key and no network, and go beyond what is left: the agent refuses and says why.

\`\`\`sh
${REFUSED.join("\n")}
\`\`\`

| file | what it holds |
| --- | --- |
| \`agent.json\` | the grants, where to listen, and the names of the files below |
| \`policy.json\` | which principal may have which grant; the agent follows changes while it runs |
| \`skills.mjs\` | what the agent does; a grant lists the \`operation\` of each skill |
| \`skills.test.mjs\` | its tests: \`node --test\` |
| \`tokens.json\` | the access token of alice, for development alone; keep it out of the repository |
| \`home/\` | the root key, the database and the audit trail; keep it out of the repository and back it up |

To add a skill, add it to \`skills.mjs\`, its operation to a grant in \`agent.json\` and to a rule in \`policy.json\`.
Packages that \`skills.mjs\` imports are installed here; for \`proviso/agent\` that is \`proviso\`, the library.
If it comes to hand tasks on to other agents, name them in \`delegates\` of \`agent.json\`: its card says that there are none.
In production, \`authentication\` in \`agent.json\` names an authorization server in place of \`tokens.json\`.
What the agent decided: \`proviso audit --home home\`.
`;
}
