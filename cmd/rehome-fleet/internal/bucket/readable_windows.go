package bucket

func readable(string) bool { return true }
