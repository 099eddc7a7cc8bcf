import { Argument, type Command } from "commander";
import type { Context } from "../context.js";
import { usageError } from "../exit.js";
import { printData, printJson } from "../output.js";
import { act, addExamples, type GlobalOptions } from "../verb.js";

export function define(program: Command, context: Context): void {
  const command = program
    .command("completion")
    .summary("print a shell completion script")
    .description("Prints a script that completes commands, options and fixed values in a shell.")
    .addArgument(new Argument("[shell]", "the shell").choices(Object.keys(SCRIPTS)))
    .action(act(context, run));
  addExamples(command, [
    "proviso completion bash > proviso.bash",
    "proviso completion zsh > _proviso",
    "proviso completion fish > proviso.fish",
  ]);
}

function run(context: Context, options: GlobalOptions, shell?: Shell): void {
  if (shell === undefined) {
    const hint =
      "source <(proviso completion bash) loads it; proviso completion --help shows the others";
    throw usageError(`name the shell: ${Object.keys(SCRIPTS).join(", ")}`, hint);
  }
  const script = SCRIPTS[shell];
  if (options.json === true) printJson(context, { shell, script });
  else printData(context, script);
}

export type Shell = "bash" | "zsh" | "fish";

/** Completion scripts, by shell. They call `proviso __complete` for the words at the cursor. */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  // For Bash 3.2 and later. If the command offers no word, Bash completes file names.
  bash: `# bash completion for proviso. Load it in this shell:
#   source <(proviso completion bash)
# or for every shell, save it as
#   ~/.local/share/bash-completion/completions/proviso
_proviso() {
  local IFS=$'\\n' cur="\${COMP_WORDS[COMP_CWORD]}" line at=""
  [ "$cur" = "@" ] || [ "\${COMP_WORDS[COMP_CWORD-1]}" = "@" ] && at=1
  [ "$cur" = "=" ] || [ "$cur" = "@" ] && cur=""
  COMPREPLY=()
  for line in $(proviso __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    case "$line" in
      :directories)
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -d -- "$cur"))
        ;;
      :token)
        # Bash breaks words at @, and yet takes it for a part of what it replaces.
        [ -n "$at" ] || continue
        for line in $(compgen -f -- "$cur"); do
          [ -d "$line" ] && line="$line/" && compopt -o nospace 2>/dev/null
          COMPREPLY+=("@$line")
        done
        ;;
      :*) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done
}
complete -o default -F _proviso proviso
`,
  zsh: `#compdef proviso
# zsh completion for proviso. Load it in this shell, after compinit:
#   source <(proviso completion zsh)
# or for every shell, save it as _proviso in a folder of $fpath.
_proviso() {
  local line
  local -a found
  for line in "\${(@f)$(proviso __complete "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
    case $line in
      :directories)
        compset -P '--*='
        _files -/
        ;;
      :files) _files ;;
      :token) if compset -P '@'; then _files; else _message 'token, @FILE or -'; fi ;;
      ?*) found+=("\${line/$'\\t'/:}") ;;
    esac
  done
  _describe value found
}
if [ "$funcstack[1]" = _proviso ]; then _proviso "$@"; else compdef _proviso proviso; fi
`,
  // For Fish 3 and later.
  fish: `# fish completion for proviso. Load it in this shell:
#   proviso completion fish | source
# or for every shell, save it as ~/.config/fish/completions/proviso.fish
function __proviso_complete
    set -l word (commandline -ct)
    for line in (proviso __complete (commandline -opc)[2..-1] "$word" 2>/dev/null)
        switch $line
            case :directories
                __fish_complete_directories "$word"
            case :files
                __fish_complete_path "$word"
            case :token
                if string match -q '@*' -- $word
                    __fish_complete_path (string sub -s 2 -- $word) | string replace -r '^' '@'
                end
            case '*'
                echo $line
        end
    end
end

complete -c proviso -e
complete -c proviso -f -a '(__proviso_complete)'
`,
};
