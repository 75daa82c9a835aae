// Runs client-go, unmodified, with CBOR as its preferred encoding, against the server of a kubeconfig, and reads and writes
// single items with the codec of Kubernetes. Prints a line per check; exit status 1 with the first that fails.
//
//	cbor check <kubeconfig>    typed and dynamic clients; needs the kind Gear of the test beside this file
//	cbor decode                per line of standard input, an item in hexadecimal: its JSON, or "refused" and the reason
//	cbor encode                per line of standard input, JSON: its item in hexadecimal
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/util/json"
)

func must(what string, err error) {
	if err != nil {
		fmt.Printf("FAILED  %s: %v\n", what, err)
		os.Exit(1)
	}
}

func expect(what string, holds bool, found ...any) {
	if !holds {
		must(what, fmt.Errorf("%v", found))
	}
}

func ok(what string) { fmt.Printf("ok      %s\n", what) }

func lines(answer func(line string) string) {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 64<<20)
	output := bufio.NewWriter(os.Stdout)
	for input.Scan() {
		fmt.Fprintln(output, answer(input.Text()))
	}
	must("input", input.Err())
	must("output", output.Flush())
}

func decoded(line string) string {
	data, err := hex.DecodeString(line)
	must("hexadecimal", err)
	var value any
	if err := direct.Unmarshal(data, &value); err != nil {
		return fmt.Sprintf("refused %q", err.Error())
	}
	text, err := json.Marshal(value)
	must("JSON", err)
	return string(text)
}

func encoded(line string) string {
	var value any
	must("JSON", json.Unmarshal([]byte(line), &value))
	data, err := direct.Marshal(value)
	must("CBOR", err)
	return hex.EncodeToString(data)
}

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "check":
		check(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "decode":
		lines(decoded)
	case len(os.Args) == 2 && os.Args[1] == "encode":
		lines(encoded)
	default:
		fmt.Println("usage: cbor check <kubeconfig> | decode | encode")
		os.Exit(2)
	}
}
