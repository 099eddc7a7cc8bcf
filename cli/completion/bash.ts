import {
  type CompletionNode,
  type CompletionOption,
  flatten,
  spellings,
  valueOptions,
} from "./tree.js";

/** A completion script for bash 3.2 and later. */
export function bashCompletion(root: CompletionNode): string {
  const nodes = flatten(root);
  const paths = nodes
    .filter((node) => node.path.length > 0)
    .map((node) => {
      const parent = node.path.slice(0, -1).join(" ");
      return `      "${parent}/${node.path.at(-1)}") path="${node.path.join(" ")}" ;;`;
    });
  return `# bash completion for proviso. Load it in this shell:
#   source <(proviso completion bash)
# or for every shell, save it as
#   ~/.local/share/bash-completion/completions/proviso
_proviso() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}"
  local path="" words="" i
  COMPREPLY=()
  if [ "$cur" = "=" ]; then
    cur=""
  elif [ "$prev" = "=" ]; then
    prev="\${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${valueOptions(root).join("|")})
        i=$((i + 1))
        continue
        ;;
    esac
    case "$path/\${COMP_WORDS[i]}" in
${paths.join("\n")}
    esac
  done
  case "$path:$prev" in
${nodes.flatMap(valueCases).join("\n")}
  esac
  if [ -z "$words" ]; then
    case "$path:$cur" in
${nodes.flatMap(wordCases).join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _proviso proviso
`;
}

// What may stand as the value of an option; where anything may, nothing is offered.
function valueCases(node: CompletionNode): string[] {
  const path = node.path.join(" ");
  return node.options.flatMap((option) => {
    const action = valueAction(option);
    if (action === undefined) return [];
    const patterns = spellings(option).map((name) => `"${path}:${name}"`);
    return [`    ${patterns.join("|")}) ${action} ;;`];
  });
}

function valueAction({ value, isFolder }: CompletionOption): string | undefined {
  if (value === undefined) return undefined;
  if (isFolder)
    return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")); return';
  return value.choices.length > 0 ? `words="${value.choices.join(" ")}"` : "return";
}

function wordCases(node: CompletionNode): string[] {
  const path = node.path.join(" ");
  const words = [
    ...node.commands.map((child) => child.path.at(-1) ?? ""),
    ...node.arguments.flatMap((argument) => argument.choices),
  ];
  const lines = [`      "${path}:"-*) words="${node.options.flatMap(spellings).join(" ")}" ;;`];
  if (words.length > 0) lines.push(`      "${path}:"*) words="${words.join(" ")}" ;;`);
  return lines;
}
