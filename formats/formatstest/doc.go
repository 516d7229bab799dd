// Package formatstest is the one conformance suite that every codec runs. A
// codec's own tests are about its format; what every format promises is here,
// once.
//
//	func TestConformance(t *testing.T) {
//		formatstest.Run(t, formatstest.Case{
//			Format:   mycodec.Format(),
//			Registry: all.Registry(),
//			Fixtures: []formatstest.Fixture{{Name: "closed", Make: closed}},
//		})
//	}
//
// Grows holds a codec to what it may cost: it makes stores of shapes that are as
// awkward as can be, in two sizes, and counts steps, bytes and allocations, never
// time. To try another shape, write a Shape that makes a store with n of what is
// awkward, and add it to the list of its format.
//
// Whatever is done to a source, the suite compares its folder before and
// after: contents, names, modes and times.
package formatstest
