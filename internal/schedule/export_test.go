package schedule

// Verbs returns the verbs in the order of their names.
func Verbs() []string { return verbNames() }

// Conditions returns what can be waited for.
func Conditions() []string { return conditions() }

// Words returns the words of the head and the modifiers.
func Words() []string {
	var words []string
	for _, f := range fields() {
		words = append(words, f.name)
	}
	for _, m := range modifiers() {
		words = append(words, m.name)
	}
	return append(words, "after", "gap", "remedy", "expect", "on", "request")
}
