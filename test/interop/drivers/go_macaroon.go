// Answers the requests of the protocol in README.md with Go's gopkg.in/macaroon.v2, in all four forms.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	macaroon "gopkg.in/macaroon.v2"
)

type request struct {
	Op         string
	Key        string
	Identifier string
	Location   string
	Caveat     string
	Format     string
	Macaroon   string
	Discharge  string
	Macaroons  []string
	Discharges []string
	Satisfied  *[]string
}

type answer struct {
	Ok    bool   `json:"ok"`
	Text  string `json:"text,omitempty"`
	Valid bool   `json:"valid"`
	Error string `json:"error,omitempty"`
}

func bytes(text string) []byte {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return data
}

func isJSON(text string) bool { return strings.HasPrefix(text, "{") }

func read(text string) *macaroon.Macaroon {
	var m macaroon.Macaroon
	var err error
	if isJSON(text) {
		err = json.Unmarshal([]byte(text), &m)
	} else {
		var data []byte
		if data, err = macaroon.Base64Decode([]byte(text)); err == nil {
			err = m.UnmarshalBinary(data)
		}
	}
	if err != nil {
		panic(err)
	}
	return &m
}

func write(m *macaroon.Macaroon, asJSON bool) answer {
	var data []byte
	var err error
	if asJSON {
		data, err = m.MarshalJSON()
	} else {
		data, err = m.MarshalBinary()
	}
	if err != nil {
		panic(err)
	}
	if asJSON {
		return answer{Text: string(data)}
	}
	return answer{Text: base64.RawURLEncoding.EncodeToString(data)}
}

func version(format string) macaroon.Version {
	if strings.HasPrefix(format, "v1") {
		return macaroon.V1
	}
	return macaroon.V2
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func perform(r request) answer {
	switch r.Op {
	case "create":
		m, err := macaroon.New(bytes(r.Key), bytes(r.Identifier), string(bytes(r.Location)), version(r.Format))
		must(err)
		return write(m, strings.HasSuffix(r.Format, "json"))
	case "append":
		m := read(r.Macaroon)
		must(m.AddFirstPartyCaveat(bytes(r.Caveat)))
		return write(m, isJSON(r.Macaroon))
	case "thirdParty":
		m := read(r.Macaroon)
		must(m.AddThirdPartyCaveat(bytes(r.Key), bytes(r.Identifier), string(bytes(r.Location))))
		return write(m, isJSON(r.Macaroon))
	case "bind":
		discharge := read(r.Discharge)
		discharge.Bind(read(r.Macaroon).Signature())
		return write(discharge, isJSON(r.Discharge))
	case "convert":
		m := read(r.Macaroon)
		if m.Version() != version(r.Format) {
			panic(errors.New("convert can not change the version"))
		}
		return write(m, strings.HasSuffix(r.Format, "json"))
	case "join":
		var all macaroon.Slice
		for _, text := range r.Macaroons {
			var some macaroon.Slice
			must(some.UnmarshalBinary(bytes(text)))
			all = append(all, some...)
		}
		data, err := all.MarshalBinary()
		must(err)
		return answer{Text: base64.RawURLEncoding.EncodeToString(data)}
	case "verify":
		return verify(r)
	}
	panic(fmt.Errorf("unknown op %q", r.Op))
}

func verify(r request) answer {
	var discharges []*macaroon.Macaroon
	for _, text := range r.Discharges {
		discharges = append(discharges, read(text))
	}
	known := map[string]bool{}
	if r.Satisfied != nil {
		for _, one := range *r.Satisfied {
			known[string(bytes(one))] = true
		}
	}
	check := func(caveat string) error {
		if r.Satisfied == nil || known[caveat] {
			return nil
		}
		return errors.New("not met")
	}
	if err := read(r.Macaroon).Verify(bytes(r.Key), check, discharges); err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Valid: true}
}

func answerLine(line []byte) (result answer) {
	defer func() {
		if failure := recover(); failure != nil {
			result = answer{Error: fmt.Sprint(failure)}
		}
	}()
	var r request
	must(json.Unmarshal(line, &r))
	result = perform(r)
	result.Ok = true
	return result
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		if err := out.Encode(answerLine(in.Bytes())); err != nil {
			os.Exit(1)
		}
	}
}
