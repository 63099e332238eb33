#include "guard.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace tally::python {
namespace {

std::atomic<unsigned> num_forks = 0;

[[noreturn]] void wait_for_the_end() noexcept {
  for (;;) pause();
}

}  // namespace

void take_interpreter(PyThreadState* thread) noexcept {
  try {
    PyEval_RestoreThread(thread);
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  }
}

py::object call_python(const py::object& callable, const py::tuple& arguments, const py::dict& fields) {
  PyObject* result = nullptr;
  try {
    result = PyObject_Call(callable.ptr(), arguments.ptr(), fields.ptr());
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  }
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

void Guard::begin(Access access) {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { num_forks.fetch_add(1, std::memory_order_relaxed); });
  if (num_forks_ != num_forks) begin_in_forked_process();
  ++num_batches_;
  num_writes_ += access == Access::write;
}

void Guard::end(Access access) noexcept {
  --num_batches_;
  num_writes_ -= access == Access::write;
}

void Guard::begin_in_forked_process() {
  if (num_writes_ != 0)
    throw py::value_error(
        "another thread changed the structure when this process was forked; make or open it again in this "
        "process");
  // The threads that held the locks are not in this process.
  new (&entrance_) std::mutex;
  new (&mutex_) std::shared_mutex;
  num_batches_ = 0;
  num_forks_ = num_forks;
}

void Guard::lock(Access access) {
  const std::lock_guard entered(entrance_);
  access == Access::read ? mutex_.lock_shared() : mutex_.lock();
}

HeldBoth::HeldBoth(Guard& first, Access access, Guard& second)
    : first_(first), access_(access), second_(second) {
  first_.begin(access_);
  try {
    second_.begin(Access::read);
  } catch (...) {
    first_.end(access_);
    throw;
  }
  thread_ = PyEval_SaveThread();
  // In the order of addresses, so that two calls never wait for each other.
  const bool is_in_order = std::less<>()(&first_, &second_);
  if (is_in_order) first_.lock(access_);
  second_.lock(Access::read);
  if (!is_in_order) first_.lock(access_);
}

HeldBoth::~HeldBoth() {
  first_.unlock(access_);
  second_.unlock(Access::read);
  take_interpreter(thread_);
  first_.end(access_);
  second_.end(Access::read);
}

}  // namespace tally::python
