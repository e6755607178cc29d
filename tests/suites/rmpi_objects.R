# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# Rmpi moves vectors and objects of R between all ranks.
suppressMessages(library(Rmpi))
rank <- as.double(mpi.comm.rank(0))
size <- mpi.comm.size(0)
counts <- c(0, 0)
expect <- function(correct) counts[if (isTRUE(correct)) 1 else 2] <<- counts[if (isTRUE(correct)) 1 else 2] + 1
object <- function(of) list(rank = of, text = paste("rank", of), numbers = seq(of, of + 5000, by = 0.5), matrix = matrix(of, 30, 40))

expect(mpi.allreduce(as.double(rank + 1), type = 2, op = "sum", comm = 0) == size * (size + 1) / 2)
expect(mpi.allreduce(as.integer(rank), type = 1, op = "max", comm = 0) == size - 1)
expect(identical(mpi.bcast(if (rank == 1) as.double(1:1000) else double(1000), type = 2, rank = 1, comm = 0), as.double(1:1000)))
expect(identical(mpi.bcast.Robj(if (rank == 0) object(7) else NULL, rank = 0, comm = 0), object(7)) || rank == 0)
gathered <- mpi.gather.Robj(object(rank), root = 0, comm = 0)
if (rank == 0) {
  parts <- lapply(seq_len(size), function(i) gathered[, i])
  for (i in seq_len(size)) expect(identical(unname(parts[[i]]), unname(object(i - 1))))
}
following <- (rank + 1) %% size
previous <- (rank - 1) %% size
mpi.isend.Robj(object(rank), dest = following, tag = 5, comm = 0)
expect(identical(mpi.recv.Robj(source = previous, tag = 5, comm = 0), object(previous)))
mpi.waitall(1)
all <- mpi.reduce(counts, type = 2, op = "sum", dest = 0, comm = 0)
if (rank == 0) cat(sprintf("%d ranks: %d right, %d wrong\n", size, all[1], all[2]))
invisible(mpi.finalize())
