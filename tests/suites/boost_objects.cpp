// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Boost.MPI moves objects of the standard library, and reduces with functions of the program.
#include <algorithm>
#include <boost/mpi.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <iostream>

namespace mpi = boost::mpi;

namespace {

using Objects = std::map<std::string, std::vector<double>>;

long right, wrong;

void expect(bool correct) {
  ++(correct ? right : wrong);
}

Objects objects_of(int rank) {
  Objects objects;
  for (int i = 0; i < 20; ++i)
    objects["rank " + std::to_string(rank) + " " + std::to_string(i)] = std::vector<double>(1000 * i, rank + 0.5 * i);
  return objects;
}

void ring(const mpi::communicator& world) {
  const int next = (world.rank() + 1) % world.size(), previous = (world.rank() + world.size() - 1) % world.size();
  Objects received;
  const Objects sent = objects_of(world.rank());
  mpi::request requests[] = {world.isend(next, 7, sent), world.irecv(previous, 7, received)};
  mpi::wait_all(requests, requests + 2);
  expect(received == objects_of(previous));
}

void collective(const mpi::communicator& world) {
  std::vector<Objects> all;
  mpi::gather(world, objects_of(world.rank()), all, 0);
  for (int rank = 0; rank < static_cast<int>(all.size()); ++rank) expect(all[rank] == objects_of(rank));
  mpi::scatter(world, all, all.emplace_back(), 0);
  expect(all.back() == objects_of(world.rank()));
  std::string text = world.rank() == 0 ? std::string(100000, 'x') : std::string();
  mpi::broadcast(world, text, 0);
  expect(text == std::string(100000, 'x'));
  const auto longer = [](const std::string& a, const std::string& b) { return a + b; };  // does not commute
  std::string expected;
  for (int rank = 0; rank < world.size(); ++rank) expected += std::to_string(rank) + ",";
  expect(mpi::all_reduce(world, std::to_string(world.rank()) + ",", longer) == expected);
  expect(mpi::all_reduce(world, world.rank(), mpi::maximum<int>()) == world.size() - 1);
  const mpi::communicator half = world.split(world.rank() % 2);
  expect(mpi::all_reduce(half, 1, std::plus<int>()) == (world.size() + 1 - world.rank() % 2) / 2);
}

}  // namespace

int main() {
  const mpi::environment environment;
  const mpi::communicator world;
  ring(world);
  collective(world);
  const long all_right = mpi::all_reduce(world, right, std::plus<long>()),
             all_wrong = mpi::all_reduce(world, wrong, std::plus<long>());
  if (world.rank() == 0) std::cout << world.size() << " ranks: " << all_right << " right, " << all_wrong << " wrong\n";
}
