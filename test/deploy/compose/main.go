// Reads a compose file as Docker Compose does, with its checks, and prints what it means as JSON.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

func read(path string) ([]byte, error) {
	options, err := cli.NewProjectOptions([]string{path}, cli.WithName("plinth"), cli.WithOsEnv)
	if err != nil {
		return nil, err
	}
	var project *types.Project
	if project, err = options.LoadProject(context.Background()); err != nil {
		return nil, err
	}
	return project.MarshalJSON()
}

func main() {
	text, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}
