package conformance_test

// malformedChecks are the checks that send what is no request, and read what comes and how it ends.
const malformedChecks = "daemon/bad-json daemon/bad-utf8 daemon/not-a-map daemon/bad-id daemon/bad-method daemon/zero-frame " +
	"daemon/over-cap"

// daemonModes are one fault each of internal/brokend. What is not in caught or may must pass.
var daemonModes = []mode{
	// Ends and neighbours: first, because they take longest.
	{name: "says-goodbye", caught: "daemon/hang-up", may: "daemon/many"},
	{name: "never-closes", caught: "daemon/hang-up daemon/cut-frame daemon/half-close"},
	{name: "cut-frame-answered", caught: "daemon/cut-frame"},
	{name: "drops-at-half-close", caught: "daemon/half-close"},
	{name: "dies-when-callers-leave", caught: "daemon/gone", may: "daemon/concurrent daemon/promises"},
	{name: "one-at-a-time", caught: "daemon/concurrent", may: "daemon/promises"},
	{name: "keeps-promises", caught: "daemon/promises"},
	// Answers.
	{name: "answers-at-end", caught: "daemon/answered"},
	{name: "big-endian", caught: "daemon/little-endian"},
	{name: "not-utf8", caught: "daemon/json"},
	{name: "result-beside-error", caught: "daemon/one-of-two"},
	{name: "null-beside-error", caught: "daemon/one-of-two"},
	{name: "camel-case", caught: "daemon/code"},
	{name: "no-message", caught: "daemon/message"},
	{name: "message-null", caught: "daemon/message"},
	{name: "ids-rounded", caught: "daemon/id"},
	{name: "no-namespace-malformed", caught: "daemon/no-namespace"},
	{name: "unknown-members-refused", caught: "daemon/members"},
	{name: "id-first", caught: "daemon/members"},
	{name: "space-refused", caught: "daemon/space"},
	{name: "params-required", caught: "daemon/params"},
	{name: "null-params-refused", caught: "daemon/params"},
	{name: "depth-32", caught: "daemon/params"},
	{name: "cap-64k", caught: "daemon/large daemon/cap"},
	{name: "cap-less-one", caught: "daemon/cap"},
	// Order.
	{name: "one-frame-a-read", caught: "daemon/together daemon/many daemon/half-close"},
	{name: "short-reads-lost", caught: "daemon/byte-by-byte"},
	{name: "closes-after-error", caught: "daemon/error-stays daemon/together daemon/many daemon/half-close"},
	{name: "loses-one-of-many", caught: "daemon/many"},
	{name: "answers-twice", caught: "daemon/many"},
	// What is no request.
	{name: "malformed-in-silence", caught: malformedChecks},
	{name: "malformed-is-unknown", caught: malformedChecks},
	{name: "malformed-twice", caught: malformedChecks},
	{name: "stays-open", caught: malformedChecks},
	{name: "dies-of-malformed", caught: "daemon/json", may: "daemon/*"},
	{name: "malformed-keeps-id", caught: "daemon/bad-method"},
	{name: "trailing-taken", caught: "daemon/bad-json"},
	{name: "not-utf8-taken", caught: "daemon/bad-utf8"},
	{name: "lists-taken", caught: "daemon/not-a-map"},
	{name: "ids-wrap", caught: "daemon/bad-id"},
	{name: "text-ids-taken", caught: "daemon/bad-id"},
	{name: "id-optional", caught: "daemon/bad-id"},
	{name: "any-method-taken", caught: "daemon/bad-method"},
	{name: "zero-frame-skipped", caught: "daemon/zero-frame"},
	{name: "over-cap-in-silence", caught: "daemon/over-cap"},
	{name: "over-cap-read-first", caught: "daemon/over-cap"},
}
