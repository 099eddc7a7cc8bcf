# Completes command lines in an interactive zsh on a separate terminal. Arguments: the script to load,
# then each command line as one word. Prints the completions of each command line on one line.
zmodload zsh/zpty
setup=$(mktemp) offers=$(mktemp)
dump=$(mktemp -u)
trap 'rm -f $setup $offers $dump*(N)' EXIT
cat > $setup <<'SETUP'
autoload -Uz compinit
compinit -u -d $DUMP
source $SCRIPT
compadd() {
  # A call that only fills an array offers no completions.
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
    builtin compadd "$@"
    return
  fi
  local -a found
  builtin compadd -O found "$@"
  (( $#found )) && print -rl -- $found >> $OFFERS
  builtin compadd "$@"
}
finish() { print -r -- END >> $OFFERS; BUFFER= }
zle -N finish
bindkey '^I' complete-word '^E' finish
setopt no_beep no_list_beep no_auto_list no_auto_menu
PS1= RPS1= PS2=
print READY
SETUP
script=$1
shift
zpty shell "SCRIPT=${(q)script} DUMP=$dump OFFERS=$offers zsh -f -i"
zpty -w shell "source $setup"
while zpty -r shell answer; do [[ $answer == READY* ]] && break; done
for line in "$@"; do
  : > $offers
  zpty -w -n shell "$line"$'\t\C-E'
  for ((tries = 0; tries < 200; tries++)); do
    grep -q '^END$' $offers && break
    sleep 0.05
  done
  print -r -- $(grep -v '^END$' $offers | sort -u)
done
zpty -d shell
