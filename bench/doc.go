// Command bench measures Kaiak as whole processes, side by side with the
// ast-grep binary wherever that can do the same work, and prints the figures
// as the tables of docs/benchmarks.md.
//
//	make build && go run ./bench [-runs 5] [-only scan] [-update]
//
// Both programs get the same rules, the same files and the same machine, in
// turn (A B A B …), so that a drift of the machine hits both. Before times are
// compared the two sets of matches are, and a difference is printed beside the
// figures. The peer is found by KAIAK_ASTGREP; without it Kaiak is measured
// alone. -update rewrites the tables in docs/benchmarks.md.
package main
