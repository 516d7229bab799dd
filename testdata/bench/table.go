package main

import "fmt"

func printHead() {
	fmt.Println("| job | program | wall | CPU | peak memory | rehome, by wall | by CPU | wanted |")
	fmt.Println("|---|---|--:|--:|--:|--:|--:|--:|")
}

// printRow prints one contender, and how many times faster rehome was. What is
// wanted is wanted of wall time; CPU time says how steady that is when other
// programs want the processors too.
func printRow(job string, c contender, took, ours cost) {
	wall, cpu, wanted := "", "", ""
	if took != ours {
		wall = fmt.Sprintf("%.1f×", took.wall.Seconds()/ours.wall.Seconds())
		cpu = fmt.Sprintf("%.1f×", took.cpu.Seconds()/ours.cpu.Seconds())
	}
	if c.wanted > 0 {
		wanted = fmt.Sprintf("≥ %.3g×", c.wanted)
	}
	fmt.Printf("| %s | %s | %.2f s | %.2f s | %d MB | %s | %s | %s |\n",
		job, c.name, took.wall.Seconds(), took.cpu.Seconds(), took.peak>>20, wall, cpu, wanted)
}

// printAbsent says that a contender could not take part.
func printAbsent(job string, c contender) {
	fmt.Printf("| %s | %s | cannot be had | | | | | |\n", job, c.name)
}
