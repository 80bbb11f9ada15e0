package locks

import "strings"

// NameOfScript is the name of the script of this package whose digest begins with digest, or
// empty if there is none. It is for those who tell people what an EVALSHA does.
func NameOfScript(digest string) string {
	for _, s := range scripts() {
		if digest != "" && strings.HasPrefix(s.code.Hash(), digest) {
			return s.name
		}
	}
	return ""
}
