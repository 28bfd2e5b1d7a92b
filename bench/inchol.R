# kernlab's incomplete Cholesky decomposition of a matrix of numbers, timed by itself:
# Rscript inchol.R NUMBERS N D GAMMA RANK RESULT, all numbers as raw doubles row by row.
suppressMessages(library(kernlab))
given <- commandArgs(trailingOnly = TRUE)
n <- as.integer(given[2])
d <- as.integer(given[3])
x <- matrix(readBin(given[1], "double", n * d), n, d, byrow = TRUE)
seconds <- system.time(
    z <- inchol(x, kernel = "rbfdot", kpar = list(sigma = as.numeric(given[4])), tol = 1e-12, maxiter = as.integer(given[5]))
)[["elapsed"]]
left <- 1 - rowSums(z@.Data^2)
out <- file(given[6], "wb")
writeBin(c(seconds, sum(left), max(left)), out)
writeBin(as.double(pivots(z)[seq_len(ncol(z))]), out)
close(out)
