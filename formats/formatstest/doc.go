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
// Whatever is done to a source, the suite compares its folder before and
// after: contents, names, modes and times.
package formatstest
