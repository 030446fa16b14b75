// Command manager runs the controllers of this module.
package main

func main() {}
