package conformance_test

import "strings"

// mode is one way in which a peer is wrong, and who must say so. In caught and may, */x is check x at all its doors.
type mode struct {
	name   string // of the way, in internal/broken
	caught string // the checks that must fail
	may    string // those that may: time decides, or what they need is what is wrong
}

// strict are the checks that send what must be refused as malformed, and read the reply.
const strict = "*/bad-message */shapes */calls */case */first-byte */duplicates */text */numbers */trailing */syntax */cbor-refused"

// modes are one fault each. What is not in caught or may must pass.
var modes = []mode{
	// Replies.
	{name: "family-missing", caught: "*/family"},
	{name: "family-2", caught: "*/family"},
	{name: "family-text", caught: "*/family"},
	{name: "surface-missing", caught: "*/surface"},
	{name: "surface-everywhere", caught: "*/surface"},
	{name: "n-off-by-one", caught: "*/count"},
	{name: "no-n", caught: "*/members"},
	{name: "error-null", caught: "*/members"},
	{name: "nested-listing", caught: "*/rows"},
	{name: "bare-result", caught: "*/rows"},
	{name: "fault-first", caught: "*/order"},
	{name: "sorted-cbor-keys", caught: "cli/order socket/order"},
	{name: "refusal-with-rows", caught: "*/refusal"},
	{name: "duplicate-member", caught: "*/reply"},
	{name: "fault-unavailable", caught: "*/fault"},
	{name: "spaces", caught: "*/compact"},
	{name: "long-heads", caught: "*/heads"},
	{name: "cbor-says-less", caught: "*/same-meaning"},
	{name: "json-to-cbor", caught: "cli/mirror socket/mirror cli/flags"},
	{name: "verbs-not-in-cbor", caught: "cli/verbs socket/verbs cli/flags socket/space socket/cbor-taken"},
	{name: "verbs-not-on-a-pipe", caught: "pipe/verbs", may: "pipe/*"},
	{name: "cbor-for-client", caught: "pipe/mirror"},
	// Verbs.
	{name: "rows-out-of-order", caught: "*/listing"},
	{name: "row-twice", caught: "*/listing"},
	{name: "type-unknown", caught: "*/listing"},
	{name: "required-behind-optional", caught: "*/listing"},
	{name: "name-with-capital", caught: "*/listing"},
	{name: "client-unlisted", caught: "*/own-verbs"},
	{name: "serve-unlisted", caught: "*/own-verbs"},
	{name: "shell-on-socket", caught: "*/own-verbs"},
	{name: "client-unknown", caught: "*/client"},
	{name: "client-bare-differs", caught: "cli/client"},
	{name: "unknown-verb-unnamed", caught: "*/unknown-verb cli/dispatch"},
	{name: "usage-on-stderr", caught: "cli/unknown-verb cli/quote cli/dispatch"},
	{name: "quotes-all", caught: "*/quote"},
	{name: "quotes-controls", caught: "*/quote"},
	{name: "args-unnamed", caught: "*/wrong-args"},
	{name: "args-ignored", caught: "*/wrong-args"},
	{name: "unlisted-answered", caught: "cli/dispatch"},
	{name: "listed-unanswered", caught: "pipe/dispatch pipe/wrong-args socket/dispatch socket/wrong-args"},
	// Conversations.
	{name: "answers-late", caught: "*/prompt"},
	{name: "duplicate-reply", caught: "*/one-reply"},
	{name: "out-of-order", caught: "*/in-order"},
	{name: "one-message-a-read", caught: "*/together */in-order */end-of-input */both-write", may: "pipe/* socket/*"},
	{name: "short-reads-lost", caught: "*/byte-by-byte"},
	{name: "closes-after-refusal", caught: "*/refusal-stays"},
	{name: "closes-after-bad", caught: "*/bad-message"},
	{name: "malformed-is-refused", caught: strict + " */depth */items */integers"},
	{name: "bad-is-skipped", caught: strict + " */depth */items */integers"},
	{name: "event-answered", caught: "*/event", may: "*/bad-event"},
	{name: "bad-event-answered", caught: "*/bad-event"},
	{name: "unsolicited-answered", caught: "*/unsolicited"},
	{name: "unsolicited-ignored", caught: "*/unsolicited"},
	{name: "unsolicited-exits-0", caught: "pipe/unsolicited"},
	{name: "drops-the-last", caught: "*/end-of-input pipe/last-line", may: "*/both-write */over-cap pipe/endless-line pipe/reader-gone socket/drain"},
	{name: "never-ends", caught: "*/end-of-input pipe/last-line pipe/sigterm", may: "socket/cut-frame"},
	{name: "end-exits-3", caught: "pipe/end-of-input pipe/last-line pipe/sigterm"},
	{name: "says-goodbye", caught: "*/end-of-input"},
	{name: "stops-reading", caught: "*/both-write"},
	// Messages and values.
	{name: "lists-taken", caught: "*/shapes"},
	{name: "two-shapes-taken", caught: "*/shapes"},
	{name: "empty-call-taken", caught: "*/calls"},
	{name: "null-args-taken", caught: "*/calls"},
	{name: "unknown-members-refused", caught: "*/more-members"},
	{name: "folds-case", caught: "*/case"},
	{name: "space-refused", caught: "*/space"},
	{name: "foreign-unnamed", caught: "*/first-byte"},
	{name: "duplicates-taken", caught: "*/duplicates"},
	{name: "bad-utf8-taken", caught: "*/text"},
	{name: "surrogates-taken", caught: "*/text"},
	{name: "numbers-rounded", caught: "*/numbers"},
	{name: "trailing-taken", caught: "*/trailing"},
	{name: "commas-taken", caught: "*/syntax"},
	{name: "indefinite-refused", caught: "socket/cbor-taken"},
	{name: "bytes-taken", caught: "socket/cbor-refused"},
	// Limits.
	{name: "depth-63", caught: "*/depth"},
	{name: "depth-65", caught: "*/depth"},
	{name: "dies-of-depth", caught: "*/depth"},
	{name: "items-more", caught: "*/items"},
	{name: "integers-short", caught: "*/integers"},
	{name: "cap-less-one", caught: "*/cap"},
	{name: "over-cap-unnamed", caught: "*/over-cap"},
	{name: "over-cap-goes-on", caught: "socket/over-cap"},
	{name: "over-cap-in-silence", caught: "socket/over-cap"},
	{name: "over-cap-ends", caught: "pipe/over-cap pipe/endless-line"},
	{name: "endless-line-kept", caught: "pipe/endless-line"},
	{name: "keeps-promises", caught: "socket/promises"},
	// The command line.
	{name: "banner", caught: "cli/stdout"},
	{name: "two-newlines", caught: "cli/stdout"},
	{name: "no-newline", caught: "cli/stdout"},
	{name: "newline-behind-cbor", caught: "cli/stdout"},
	{name: "refusal-exits-1", caught: "cli/refusal-exit"},
	{name: "no-verb-is-refused", caught: "cli/no-verb"},
	{name: "bad-list-is-refused", caught: "cli/bad-list"},
	{name: "help-on-stderr", caught: "cli/help"},
	{name: "flags-behind-only", caught: "cli/flags"},
	{name: "unknown-flag-ignored", caught: "cli/unknown-flag"},
	{name: "words-beside-list", caught: "cli/words-and-list"},
	{name: "not-utf8-passed-on", caught: "cli/not-utf8"},
	{name: "list-is-json-only", caught: "cli/list-on-stdin"},
	{name: "reads-stdin", caught: "cli/stdin", may: "cli/list-on-stdin"},
	{name: "dies-by-sigpipe", caught: "cli/broken-stdout pipe/reader-gone"},
	{name: "write-errors-ignored", caught: "cli/broken-stdout"},
	// The pipe.
	{name: "needs-line-end", caught: "pipe/last-line"},
	{name: "crlf-refused", caught: "pipe/crlf"},
	{name: "crlf-written", caught: "pipe/only-lf"},
	{name: "blank-lines-answered", caught: "pipe/blank-lines"},
	{name: "cbor-on-a-pipe", caught: "pipe/cbor-body"},
	{name: "pipe-dies-of-sigterm", caught: "pipe/sigterm"},
	// The socket.
	{name: "little-endian", caught: "socket/big-endian"},
	{name: "zero-frame-closes", caught: "socket/zero-frame"},
	{name: "cut-frame-answered", caught: "socket/cut-frame"},
	{name: "dies-when-callers-leave", caught: "socket/gone"},
	{name: "one-at-a-time", caught: "socket/concurrent", may: "socket/promises"},
	{name: "turns-away-in-silence", caught: "socket/too-many"},
	// The life of a server.
	{name: "never-announced", caught: "socket/listening"},
	{name: "announces-nothing-known", caught: "socket/listening"},
	{name: "announces-too-early", caught: "socket/listening"},
	{name: "chatty", caught: "socket/quiet"},
	{name: "loose-mode", caught: "socket/mode"},
	{name: "no-lock", caught: "socket/lock"},
	{name: "second-server-wins", caught: "socket/second-server socket/stopped"},
	{name: "stopped-server-loses", caught: "socket/stopped"},
	{name: "stale-file-stays", caught: "socket/stale"},
	{name: "unlinks-anything", caught: "socket/not-a-socket"},
	{name: "unlinks-successor", caught: "socket/successor"},
	{name: "sigterm-ignored", caught: "socket/sigterm socket/sigint"},
	{name: "sigint-kills", caught: "socket/sigint"},
	{name: "file-left", caught: "socket/sigterm socket/sigint"},
	{name: "drops-at-stop", caught: "socket/drain"},
	{name: "long-path-unnamed", caught: "socket/path"},
	{name: "trusts-directories", caught: "socket/directory"},
	{name: "makes-directories", caught: "socket/directory"},
}

// uncaught are the checks that no mode fails, and why that is so.
var uncaught = map[string]string{}

// matches reports whether a list of patterns holds a check, door/check.
func matches(patterns, name string) bool {
	door, check, _ := strings.Cut(name, "/")
	for p := range strings.FieldsSeq(patterns) {
		d, c, _ := strings.Cut(p, "/")
		if (d == "*" || d == door) && (c == "*" || c == check) {
			return true
		}
	}
	return false
}
