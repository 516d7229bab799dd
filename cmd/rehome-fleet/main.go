// Command rehome-fleet is rehome with stores on servers, and work over many machines.
package main

func main() {}
