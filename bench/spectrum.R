# The spectrum kernel of kernlab: Rscript spectrum.R FILE LENGTH REPEAT; one JSON line on standard output.
suppressPackageStartupMessages(library(kernlab))
args <- commandArgs(trailingOnly = TRUE)
strings <- as.list(readLines(args[1]))
kernel <- stringdot(type = "spectrum", length = as.integer(args[2]), normalized = FALSE)
seconds <- c()
for (k in seq_len(as.integer(args[3]))) {
  seconds <- c(seconds, system.time(K <- kernelMatrix(kernel, strings))[["elapsed"]])
}
n <- nrow(K)
check <- c(K[1, 2], K[n, 1], sum(K[n %/% 2 + 1, ]))
cat(sprintf('{"case": "spectrum", "seconds": [%s], "check": [%s], "note": "R kernlab stringdot"}\n',
            paste(seconds, collapse = ", "), paste(check, collapse = ", ")))
