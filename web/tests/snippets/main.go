// Each argument is a directory with a recorded request: headers and body. Prints true or false.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	for _, directory := range os.Args[1:] {
		text, err := os.ReadFile(directory + "/headers")
		if err != nil {
			panic(err)
		}
		header := http.Header{}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			parts := strings.SplitN(line, ": ", 2)
			header.Set(parts[0], parts[1])
		}
		body, err := os.ReadFile(directory + "/body")
		if err != nil {
			panic(err)
		}
		fmt.Println(verify(header, body))
	}
}
