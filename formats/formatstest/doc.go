// Package formatstest is the conformance suite that every codec runs. A codec's
// own tests are about its format; what every format promises is tested here.
//
//	func TestConformance(t *testing.T) {
//		formatstest.Run(t, formatstest.Case{
//			Format:   mycodec.Format(),
//			Registry: all.Registry(),
//			Fixtures: []formatstest.Fixture{{Name: "closed", Make: closed}},
//		})
//	}
//
// Grows tests what a codec costs: it makes expensive stores in two sizes, and
// counts steps, bytes and allocations, not time. To test another kind of store,
// write a Shape and add it to the list of its format.
//
// The suite compares the folder of each source before and after every test:
// contents, names, modes and times.
package formatstest
