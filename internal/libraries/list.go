// Written by make lists from the files beside it. The order of the lines may be changed; it is kept.

package libraries

import "github.com/lockbench/lockbench/locks"

// entries is every lock of this package.
func entries() locks.Catalogue {
	return locks.Catalogue{
		setNXPXWatchSharedSpec(),
		redsyncSpec(),
		redsyncContextTimeoutSpec(),
		redsyncFailFastSpec(),
		redsyncSetNXOnExtendSpec(),
		redsyncRedigoSpec(),
		bsmRedislockSpec(),
		bsmRedislockResendSpec(),
		bsmRedislockCustomTokenSpec(),
		rueidislockSpec(),
		rueidislockPXSpec(),
	}
}
