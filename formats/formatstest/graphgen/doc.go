// Package graphgen makes agent stores at random, and says what sessions they
// hold. From a seed comes a plan: turns, prompts with what a client puts around
// them, thinking, parallel and failing tools, images, compaction, subagents,
// runs that ended badly. The plan is written as a chat store, as a state root
// of the SDK and as its four files of lines; and, apart from all that, it is
// told as the canonical session that each of them must decode to.
//
// It spells protobuf, JSON and prompts by itself, from the published numbers:
// it knows neither the walker nor the codecs that it is to judge.
package graphgen
