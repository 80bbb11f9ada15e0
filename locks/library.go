package locks

import (
	"regexp"
	"strings"
)

// Library is the module and the version of the real library behind an adapter, such as
// "bsm/redislock v0.9.4", or empty: it is what Source says of one.
func (s Spec) Library() string {
	if regexp.MustCompile(`^\S+ v\d+\.\d+\.\d+`).MatchString(s.Source) {
		library, _, _ := strings.Cut(s.Source, ",")
		return library
	}
	return ""
}
