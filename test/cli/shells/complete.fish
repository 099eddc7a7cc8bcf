# Completes command lines with fish. Arguments: the script to load, then each command line as one word.
# Prints the completions of each command line on one line.
source $argv[1]
for line in $argv[2..-1]
    echo (complete -C "$line" | string split -f 1 \t)
end
