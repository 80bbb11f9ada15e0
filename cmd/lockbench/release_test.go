package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestAction runs what the action of GitHub runs, as its runner does, and gives it each input once.
func TestAction(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("no bash, in which steps of actions are written: %v", err)
	}
	var action struct {
		Inputs map[string]struct{ Description, Default string }
		Runs   struct {
			Steps []struct {
				ID, Run string
				Env     map[string]string
			}
		}
	}
	readYAML(t, "../../action.yml", &action)
	last := action.Runs.Steps[len(action.Runs.Steps)-1]
	program, err := exec.LookPath("lockbench")
	if err != nil {
		t.Fatal(err)
	}
	play := func(inputs map[string]string) (code int, summary, outputs string) {
		dir := t.TempDir()
		if err := os.Symlink(program, filepath.Join(dir, "lockbench")); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", last.Run)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "RUNNER_TEMP="+dir, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "GITHUB_OUTPUT="+filepath.Join(dir, "outputs"))
		for variable, of := range last.Env {
			name := strings.TrimSuffix(strings.TrimPrefix(of, "${{ inputs."), " }}")
			input, ok := action.Inputs[name]
			if !ok {
				t.Fatalf("%s is %s, which is no input", variable, of)
			}
			value, given := inputs[name]
			if !given {
				value = input.Default
			}
			cmd.Env = append(cmd.Env, variable+"="+value)
		}
		var exit *exec.ExitError
		out, err := cmd.CombinedOutput()
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: exit code %d\n%s", inputs, code, out)
		for file, text := range map[string]*string{"summary": &summary, "outputs": &outputs} {
			if data, err := os.ReadFile(filepath.Join(dir, file)); err == nil {
				*text = string(data)
			}
		}
		return code, summary, outputs
	}
	code, summary, outputs := play(map[string]string{"lock": "setnx-px-get-del", "only": "P07,P08", "backend": "embedded", "runs": "2", "explore": "10ms"})
	if code != exitUnexpected || !strings.Contains(summary, "setnx-px-get-del") || !strings.HasPrefix(outputs, "junit=") {
		t.Errorf("a broken lock: exit code %d, summary %q, outputs %q", code, summary, outputs)
	}
	if code, _, _ := play(map[string]string{"only": "P07"}); code != exitExpected {
		t.Errorf("the catalogue: exit code %d, want %d", code, exitExpected)
	}
	if code, _, _ := play(map[string]string{"lock": "setnx-px-lua", "only": "P08", "baseline": "no-such.json"}); code != exitUsage {
		t.Errorf("a baseline that there is not: exit code %d, want %d", code, exitUsage)
	}
	if code, _, _ := play(map[string]string{"worker": "no-such-program", "backend": "embedded"}); code != exitUsage {
		t.Errorf("a worker in virtual time: exit code %d, want %d", code, exitUsage)
	}
}

// TestFrontDoor reads what other programs read of the repository: a mistake there is seen only when it is published.
func TestFrontDoor(t *testing.T) {
	forms, err := filepath.Glob("../../.github/ISSUE_TEMPLATE/*.yml")
	if err != nil || len(forms) < 4 {
		t.Fatalf("%d issue templates, %v", len(forms), err)
	}
	for _, file := range forms {
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID   string
				Attributes map[string]any
			}
		}
		readYAML(t, file, &form)
		if filepath.Base(file) == "config.yml" {
			continue
		}
		if form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s: want a name, a description and fields", file)
		}
		for _, field := range form.Body {
			if field.Type != "markdown" && (field.ID == "" || field.Attributes["label"] == nil) {
				t.Errorf("%s: a field of type %q has no id or no label", file, field.Type)
			}
		}
	}
	var citation struct{ Title, Message, License string }
	readYAML(t, "../../CITATION.cff", &citation)
	license, err := os.ReadFile("../../LICENSE")
	if err != nil || citation.Title != "lockbench" || citation.License != "Apache-2.0" || !bytes.Contains(license, []byte("Apache License")) {
		t.Errorf("CITATION.cff: %+v, %v", citation, err)
	}
	var release struct {
		Builds    []struct{ Main string }
		DockersV2 []struct{ Dockerfile string } `yaml:"dockers_v2"`
	}
	readYAML(t, "../../.goreleaser.yaml", &release)
	for _, b := range release.Builds {
		if _, err := os.Stat(filepath.Join("../..", b.Main, "main.go")); err != nil {
			t.Error(err)
		}
	}
	for _, d := range release.DockersV2 {
		if _, err := os.Stat(filepath.Join("../..", d.Dockerfile)); err != nil {
			t.Error(err)
		}
	}
	if len(release.Builds) == 0 || len(release.DockersV2) == 0 {
		t.Error(".goreleaser.yaml: want a build and an image")
	}
}

// TestEveryday: the file that docs/everyday.md shows is one that is read.
func TestEveryday(t *testing.T) {
	page, err := os.ReadFile("../../docs/everyday.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, ok := strings.Cut(text, "```")
	c := config{name: everyday}
	if err := c.read([]byte(text), newRoot(new(bytes.Buffer), new(bytes.Buffer))); !ok || err != nil || len(c.sections["gate"]) != 3 {
		t.Errorf("%v, %v", c.sections, err)
	}
}
