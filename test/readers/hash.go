package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
)

// hashOf gives readers in all languages the same hash of the same JSON value. A whole number of 64 bits is `i` and its digits,
// any other number `d` and its bits as a double, a string `s`, its length in bytes and its UTF-8. Members are in the order of
// the bytes of their keys.
func hashOf(value any) string {
	sum := sha256.New()
	add(sum, value)
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

func add(sum hash.Hash, value any) {
	switch value := value.(type) {
	case nil:
		fmt.Fprint(sum, "n")
	case bool:
		fmt.Fprint(sum, map[bool]string{true: "t", false: "f"}[value])
	case string:
		fmt.Fprintf(sum, "s%d:%s", len(value), value)
	case int64:
		fmt.Fprintf(sum, "i%d;", value)
	case float64:
		if value == math.Trunc(value) && value >= -(1<<63) && value < 1<<63 {
			fmt.Fprintf(sum, "i%d;", int64(value))
			return
		}
		var bits [8]byte
		binary.BigEndian.PutUint64(bits[:], math.Float64bits(value))
		fmt.Fprintf(sum, "d%s;", hex.EncodeToString(bits[:]))
	case []any:
		fmt.Fprint(sum, "[")
		for _, item := range value {
			add(sum, item)
		}
		fmt.Fprint(sum, "]")
	case map[string]any:
		keys := make([]string, 0, len(value))
		for key := range value {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		fmt.Fprint(sum, "{")
		for _, key := range keys {
			add(sum, key)
			add(sum, value[key])
		}
		fmt.Fprint(sum, "}")
	default:
		panic(fmt.Sprintf("%T", value))
	}
}
