package main

import "fmt"

func printHead() {
	fmt.Println("| job | program | wall | CPU | peak memory | rehome, by wall | by CPU | wanted |")
	fmt.Println("|---|---|--:|--:|--:|--:|--:|--:|")
}

// printRow prints one contender, and how many times faster rehome was. What is
// wanted is wanted of wall time; CPU time says how steady that is when other
// programs want the processors too.
func printRow(j job, c contender, took, ours cost) {
	wall, cpu, wanted, rate := "", "", "", ""
	if j.bytes > 0 {
		rate = fmt.Sprintf(", %.0f MB/s", float64(j.bytes)/1e6/took.wall.Seconds())
	}
	if took != ours {
		wall = fmt.Sprintf("%.1f×", took.wall.Seconds()/ours.wall.Seconds())
		cpu = fmt.Sprintf("%.1f×", took.cpu.Seconds()/ours.cpu.Seconds())
	}
	if c.wanted > 0 {
		wanted = fmt.Sprintf("≥ %.3g×", c.wanted)
	}
	if c.rate > 0 {
		wanted = fmt.Sprintf("≥ %.0f MB/s", c.rate)
	}
	fmt.Printf("| %s | %s | %.2f s%s | %.2f s | %d MB | %s | %s | %s |\n",
		j.name, c.name, took.wall.Seconds(), rate, took.cpu.Seconds(), took.peak>>20, wall, cpu, wanted)
}

// printAbsent says that a contender could not take part.
func printAbsent(job string, c contender) {
	fmt.Printf("| %s | %s | cannot be had | | | | | |\n", job, c.name)
}
