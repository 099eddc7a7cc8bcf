// Go gopkg.in/macaroon.v2 behind the protocol of ../children.mjs.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	macaroon "gopkg.in/macaroon.v2"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	must(err)
	return value
}

func verify(text string, key []byte) {
	data, err := macaroon.Base64Decode([]byte(text))
	must(err)
	var m macaroon.Macaroon
	must(m.UnmarshalBinary(data))
	must(m.Verify(key, func(string) error { return nil }, nil))
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	var key []byte
	var pools [][]string
	for in.Scan() {
		words := strings.Fields(in.Text())
		switch words[0] {
		case "key":
			var err error
			key, err = hex.DecodeString(words[1])
			must(err)
			fmt.Println(0)
		case "load":
			var tokens []string
			for n := number(words[1]); n > 0 && in.Scan(); n-- {
				tokens = append(tokens, in.Text())
			}
			pools = append(pools, tokens)
			fmt.Println(len(pools) - 1)
		case "run":
			tokens := pools[number(words[1])]
			end := time.Duration(number(words[2])) * time.Millisecond
			began, done := time.Now(), 0
			for time.Since(began) < end {
				verify(tokens[done%len(tokens)], key)
				done++
			}
			fmt.Println(float64(time.Since(began).Nanoseconds()) / float64(done))
		}
	}
}
