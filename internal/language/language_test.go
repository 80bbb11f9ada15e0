package language_test

import (
	"errors"
	"testing"

	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/language"
)

func chinese(t *testing.T) language.Language {
	t.Helper()
	zh, err := language.Find("zh")
	if err != nil {
		t.Fatal(err)
	}
	return zh
}

func TestSays(t *testing.T) {
	zh, en := chinese(t), language.Language{}
	for _, c := range []struct{ got, want string }{
		{en.Name(), "en"}, {en.Tag(), "en"}, {zh.Name(), "zh"}, {zh.Tag(), "zh-CN"},
		{en.Say("ownership"), "ownership"}, {zh.Say("ownership"), "对称性"},
		{zh.Say("no such text"), "no such text"},
		{en.Sayf("seed %d", 7), "seed 7"}, {zh.Sayf("seed %d", 7), "种子 7"},
		{en.Count(1, "event"), "1 event"}, {en.Count(2, "event"), "2 events"}, {zh.Count(1, "event"), " 1 个事件"},
		{en.And(nil), ""}, {en.And([]string{"a"}), "a"}, {en.And([]string{"a", "b", "c"}), "a, b and c"}, {zh.And([]string{"a", "b", "c"}), "a、b、c"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if en.Has("") && en.Has("anything") && zh.Has("ownership") && !zh.Has("no such text") {
		return
	}
	t.Error("English has all texts, Chinese those of its file")
}

func TestFind(t *testing.T) {
	if l, err := language.Find("en"); err != nil || l.Name() != "en" || l.Say("ownership") != "ownership" {
		t.Errorf("Find(en) = %v, %v", l.Name(), err)
	}
	var unknown *catalogue.UnknownError
	if _, err := language.Find("xx"); !errors.As(err, &unknown) {
		t.Errorf("Find(xx): %v, want that it is unknown", err)
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		all, messages, lang, want string
	}{
		{"", "", "", "en"},
		{"", "", "zh_CN.UTF-8", "zh"},
		{"", "", "zh_CN", "zh"},
		{"", "", "zh", "zh"},
		{"", "", "zh_CN.GB18030@stroke", "zh"},
		{"", "", "zh_TW.UTF-8", "en"},
		{"", "", "de_DE.UTF-8", "en"},
		{"", "", "C.UTF-8", "en"},
		{"", "zh_CN.UTF-8", "en_US.UTF-8", "zh"},
		{"", "en_US.UTF-8", "zh_CN.UTF-8", "en"},
		{"C", "zh_CN.UTF-8", "zh_CN.UTF-8", "en"},
		{"zh_CN.UTF-8", "C", "C", "zh"},
	} {
		env := map[string]string{"LC_ALL": c.all, "LC_MESSAGES": c.messages, "LANG": c.lang}
		if got := language.Of(func(name string) string { return env[name] }).Name(); got != c.want {
			t.Errorf("Of(%v) is %s, want %s", env, got, c.want)
		}
	}
}
