// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Streams of the program's, on which Weft's operations are enqueued. The device itself waits for a word in memory where
// it can. Otherwise a function of the host does: the driver may call those of all streams one after the other, so that
// streams of a process then wait for each other.
#include <ctime>
#include <memory>
#include <new>

#include "device/cuda/engine.hpp"

namespace weft::device::by_cuda {
namespace {

constexpr unsigned equal_or_more = 0;  // CU_STREAM_WAIT_VALUE_GEQ

// The word that a function of the host waits for.
struct Wait {
  const uint32_t* word;
  uint32_t number;
};

void wait_on_host(void* argument) {
  const std::unique_ptr<Wait> wait(static_cast<Wait*>(argument));
  const timespec pause{0, 5000};
  while (static_cast<int32_t>(__atomic_load_n(wait->word, __ATOMIC_ACQUIRE) - wait->number) < 0)
    (void)nanosleep(&pause, nullptr);
}

// Where the device reaches the word.
Pointer reach(const uint32_t* word) {
  static constexpr int asked[] = {attribute_device_pointer};
  Pointer pointer = 0;
  void* answers[] = {&pointer};
  return library.pointer_attributes(1, asked, answers, pointer_of(word)) == success ? pointer : 0;
}

// The stream's context; nullptr: that of the calling thread, whatever it is.
Context context_of(Stream stream, std::string& problem) {
  Context context = nullptr;
  if (library.context_of_stream == nullptr) {
    (void)library.current(&context);
  } else if (const int error = library.context_of_stream(stream, &context)) {
    problem = text_of("StreamGetCtx", error);
  }
  return context;
}

}  // namespace

std::string make_gate(Gate& gate) {
  if (library.call_host == nullptr)
    return std::string(library.title) + " has no function that calls the host from a stream: it is too old";
  std::string problem;
  const Context context = context_of(gate.stream, problem);
  if (!problem.empty()) return problem;
  const Current current(context);
  const Pointer word = reach(gate.word);
  gate.by_host = word == 0 || library.wait_for_word == nullptr ||
                 library.wait_for_word(gate.stream, word, *gate.word, equal_or_more) != success;
  return {};
}

std::string halt(const Gate& gate, uint32_t number, void (*reached)(void*), void* argument) {
  std::string problem;
  const Context context = context_of(gate.stream, problem);
  if (!problem.empty()) return problem;
  const Current current(context);
  if (current.error() != success) return text_of("CtxPushCurrent", current.error());
  if (const int error = library.call_host(gate.stream, reached, argument)) return text_of("LaunchHostFunc", error);
  if (!gate.by_host) {
    const int error = library.wait_for_word(gate.stream, reach(gate.word), number, equal_or_more);
    return error == success ? std::string() : text_of("StreamWaitValue32", error);
  }
  auto wait = std::unique_ptr<Wait>(new (std::nothrow) Wait{gate.word, number});
  if (wait == nullptr) return "no memory for what a stream waits for";
  if (const int error = library.call_host(gate.stream, wait_on_host, wait.get()))
    return text_of("LaunchHostFunc", error);
  (void)wait.release();
  return {};
}

}  // namespace weft::device::by_cuda
