# Completes command lines as bash does. Arguments: the script to load, then each command line as one word.
# Prints the completions of each command line on one line. Splits words at spaces and around = and @, as
# bash does.
source "$1"
shift
compopt() { :; }
for line in "$@"; do
  words=${line//=/ = }
  words=${words//@/@ }
  IFS=' ' read -r -a COMP_WORDS <<<"$words"
  [[ $line == *' ' ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _proviso
  echo "${COMPREPLY[*]}"
done
