package formatstest

import (
	"iter"
	"reflect"
)

// Fleeting yields copies of messages or files, and overwrites each when the next one is
// asked for: until then it is valid, see session.Session. A writer that keeps what it was
// given writes something else.
func Fleeting[T any](all iter.Seq2[*T, error]) iter.Seq2[*T, error] {
	if all == nil {
		return nil
	}
	return func(yield func(*T, error) bool) {
		for one, err := range all {
			if one == nil {
				if !yield(nil, err) {
					return
				}
				continue
			}
			held := deepCopy(reflect.ValueOf(one)).Interface().(*T)
			more := yield(held, err)
			overwrite(reflect.ValueOf(held))
			if !more {
				return
			}
		}
	}
}

// deepCopy returns a value that shares no memory with v.
func deepCopy(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(deepCopy(v.Elem()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(deepCopy(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(deepCopy(v.Index(i)))
			}
		}
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			if out.Field(i).CanSet() {
				out.Field(i).Set(deepCopy(v.Field(i)))
			}
		}
	default:
		out.Set(v)
	}
	return out
}

// overwrite replaces everything that a value refers to.
func overwrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			overwrite(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			overwrite(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			overwrite(v.Field(i))
		}
	case reflect.Uint8:
		if v.CanSet() {
			v.SetUint('#')
		}
	case reflect.Int, reflect.Int64:
		if v.CanSet() {
			v.SetInt(-77)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString("overwritten")
		}
	}
}
