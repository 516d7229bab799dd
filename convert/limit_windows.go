package convert

func fileLimit() int { return 0 }

func filesUsedUp(error) bool { return false }
