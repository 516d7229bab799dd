package formats

// Machine is what decides where clients keep their stores: the platform, the
// user's home folder, and the environment.
type Machine struct {
	OS     string // as runtime.GOOS names it
	Home   string // the user's home folder
	Getenv func(name string) string
}

// Env is a variable of the environment, "" where that is not known.
func (m Machine) Env(name string) string {
	if m.Getenv == nil {
		return ""
	}
	return m.Getenv(name)
}
