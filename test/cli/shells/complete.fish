# Completes command lines with fish. Arguments: the script to load, then each line as one word;
# prints the offers for each on a line of its own.
source $argv[1]
for line in $argv[2..-1]
    echo (complete -C "$line" | string split -f 1 \t)
end
