package house

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the generated files again")

// asWritten compares a generated file with what stands there, or writes it. The command is what a reader types to have it written.
func asWritten(t *testing.T, file, command, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff.Diff(string(got), want); d != "" {
		t.Errorf("%s is not what the code says; run: %s (-file +code):\n%s", file, command, d)
	}
}

// withPart returns a page with the text as its generated part of that name.
func withPart(t *testing.T, page, name, text string) string {
	t.Helper()
	part := regexp.MustCompile(`(?s)(<!-- generated: ` + name + ` -->\n).*?(<!-- end -->)`)
	if len(part.FindAllString(page, -1)) != 1 {
		t.Fatalf("the page has not one part %q", name)
	}
	return part.ReplaceAllString(page, "${1}"+strings.ReplaceAll(text, "$", "$$")+"${2}")
}
