// Package examples holds workers in several languages, which lockbench init hands out: in each
// a lock of the user's own to fill in, and the loop that speaks the worker protocol.
package examples

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"text/template"

	"github.com/lockbench/lockbench/internal/catalogue"
)

//go:embed golang java node php python ruby templates
var files embed.FS

// Language is one in which a worker can be begun.
type Language struct {
	Name  string // what the user calls it: go, java, ...
	Title string
	// Loop and Lock are the files of the protocol and of the lock. The user changes the second.
	Loop, Lock string
	Needs      string // what the worker needs, in words
	Packages   string // of Debian, that have it
	Build      string // command that makes the worker; empty: nothing is made
	Run        string // command of the worker

	dir   string
	extra []File
}

// File is one that a project begins with.
type File struct {
	Name string
	Data []byte
}

// Languages lists every language, by name.
func Languages() []Language {
	return []Language{
		{
			Name: "go", Title: "A lock in Go", dir: "golang", Loop: "protocol.go", Lock: "main.go",
			Needs: "Go 1.24", Packages: "ca-certificates", Build: "go mod tidy && go build -o my_lock .", Run: "./my_lock",
			extra: []File{{"go.mod", []byte("module my_lock\n\ngo 1.24\n\nrequire github.com/redis/go-redis/v9 v9.23.0\n")}},
		},
		{
			Name: "java", Title: "A lock in Java", dir: "java", Loop: "LockbenchWorker.java", Lock: "MyLock.java",
			Needs: "a JDK of version 17", Packages: "openjdk-17-jdk-headless", Build: "javac *.java", Run: "java MyLock",
		},
		{
			Name: "node", Title: "A lock in Node.js", dir: "node", Loop: "lockbench_worker.js", Lock: "my_lock.js",
			Needs: "Node.js 14", Packages: "nodejs", Run: "node my_lock.js",
		},
		{
			Name: "php", Title: "A lock in PHP", dir: "php", Loop: "lockbench_worker.php", Lock: "my_lock.php",
			Needs: "PHP 8.1 with the extension redis (Debian: php-cli, php-redis)", Packages: "php-cli php-redis", Run: "php my_lock.php",
		},
		{
			Name: "python", Title: "A lock in Python", dir: "python", Loop: "lockbench_worker.py", Lock: "my_lock.py",
			Needs: "Python 3.7 with redis-py (Debian: python3-redis, for /usr/bin/python3)", Packages: "python3-redis", Run: "python3 my_lock.py",
		},
		{
			Name: "ruby", Title: "A lock in Ruby", dir: "ruby", Loop: "lockbench_worker.rb", Lock: "my_lock.rb",
			Needs: "Ruby 2.7 with the gem redis (Debian: ruby-redis)", Packages: "ruby-redis", Run: "ruby my_lock.rb",
		},
	}
}

// Commands are what builds the worker and puts its lock through the gate, for a shell in the
// project's directory.
func (l Language) Commands() string {
	gate := fmt.Sprintf("lockbench gate --backend process --worker '%s'", l.Run)
	if l.Build == "" {
		return gate
	}
	return l.Build + " && " + gate
}

// Project are the files that a project in the language begins with.
func (l Language) Project() ([]File, error) {
	all := append([]File{}, l.extra...)
	for _, name := range []string{l.Loop, l.Lock} {
		data, err := files.ReadFile(path.Join(l.dir, name))
		if err != nil {
			return nil, err
		}
		all = append(all, File{name, data})
	}
	for _, name := range []string{"README.md", "lockbench.yml"} {
		t, err := template.ParseFS(files, path.Join("templates", name))
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, l); err != nil {
			return nil, err
		}
		all = append(all, File{name, b.Bytes()})
	}
	return all, nil
}

// Find returns the language of that name, or a *catalogue.UnknownError.
func Find(name string) (Language, error) {
	return catalogue.Find("language", name, Languages(), func(l Language) string { return l.Name })
}
