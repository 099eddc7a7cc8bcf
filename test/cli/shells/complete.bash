# Completes command lines as bash does. Arguments: the script to load, then each line as one word;
# prints the offers for each on a line of its own. Words are split at spaces and around = and @,
# as bash splits them.
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
