package formats

// Machine is what determines where clients keep their stores: the operating
// system, the user's home folder and the environment.
type Machine struct {
	OS     string // a value of runtime.GOOS
	Home   string // the user's home folder
	Getenv func(name string) string
}

// Env returns an environment variable, "" if Getenv is nil.
func (m Machine) Env(name string) string {
	if m.Getenv == nil {
		return ""
	}
	return m.Getenv(name)
}
