// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Yorick's mpy: each pair of ranks exchanges arrays of several types and lengths, which the receiver compares. Rank 0 hands a text
// to all ranks and gathers how many messages were right and how many wrong.

func message(from, to, which)
{
  n = [1, 17, 1000, 100000](1 + which % 4);
  x = 100 * from + 10 * to + which + indgen(n);
  if (which < 4) return x;
  if (which < 8) return 0.5 * x;
  if (which < 12) return float(x);
  return char(x & 127);
}

func is_equal(a, b)
{
  return structof(a) == structof(b) && numberof(a) == numberof(b) && allof(a == b);
}

func exchange(void)
{
  right = wrong = 0;
  // mp_send waits until a long message is received, so the lower rank of a pair sends first.
  for (other = 0; other < mp_size; ++other) {
    for (which = 0; which < 16 && other != mp_rank; ++which) {
      if (mp_rank < other) mp_send, other, message(mp_rank, other, which);
      if (is_equal(mp_recv(other), message(other, mp_rank, which))) ++right;
      else ++wrong;
      if (mp_rank > other) mp_send, other, message(mp_rank, other, which);
    }
  }
  text = "from rank 0";
  if (mp_rank) text = "";
  mp_handout, text;
  if (is_equal(text, "from rank 0")) ++right;
  else ++wrong;
  sums = mp_handin([right, wrong]);
  if (!mp_rank) write, format="%ld ranks: %ld right, %ld wrong\n", mp_size, sums(1), sums(2);
}

// Rank 0 alone reads a batch file: it has all ranks read this one, and call the function.
if (mp_exec()) {
  mp_include, current_include();
  mp_exec, "exchange;";
}
