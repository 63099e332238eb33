#pragma once

#include <functional>
#include <shared_mutex>
#include <type_traits>

#include "python.hpp"

namespace tally::python {

/// Whether a call changes a structure.
enum class Access { read, write };

/// Keeps threads apart that use one structure: batches run without the interpreter's lock, many reads or one write at a
/// time.
///
/// The interpreter's lock protects num_batches, so a short call that finds it at 0 needs no other lock: no batch can begin
/// before the call ends.
struct Guard {
  int num_batches = 0;
  std::shared_mutex mutex;
};

/// What `use` of a structure returns; it may run without the interpreter's lock, so that it makes no object of Python.
template <class Result>
concept NotOfPython = !std::is_base_of_v<py::handle, std::remove_cvref_t<Result>>;

/// Held during one call on a structure. A batch of at least `long_batch` keys gives up the interpreter's lock meanwhile.
class Held {
 public:
  static constexpr std::size_t long_batch = 256;

  Held(Guard& guard, Access access, std::size_t num_keys = 1) : guard_(guard), access_(access) {
    if (num_keys < long_batch && guard.num_batches == 0) return;
    ++guard_.num_batches;
    thread_ = PyEval_SaveThread();
    access == Access::read ? guard_.mutex.lock_shared() : guard_.mutex.lock();
  }
  ~Held() {
    if (thread_ == nullptr) return;
    access_ == Access::read ? guard_.mutex.unlock_shared() : guard_.mutex.unlock();
    PyEval_RestoreThread(thread_);
    --guard_.num_batches;
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Guard& guard_;
  Access access_;
  PyThreadState* thread_ = nullptr;
};

/// Held during one call on two different structures, of which the second is only read.
class HeldBoth {
 public:
  HeldBoth(Guard& first, Access access, Guard& second) : first_(first), access_(access), second_(second) {
    ++first_.num_batches;
    ++second_.num_batches;
    thread_ = PyEval_SaveThread();
    // In the order of addresses, so that two calls never wait for each other.
    const bool is_in_order = std::less<>()(&first_, &second_);
    if (is_in_order) lock_first();
    second_.mutex.lock_shared();
    if (!is_in_order) lock_first();
  }
  ~HeldBoth() {
    access_ == Access::read ? first_.mutex.unlock_shared() : first_.mutex.unlock();
    second_.mutex.unlock_shared();
    PyEval_RestoreThread(thread_);
    --first_.num_batches;
    --second_.num_batches;
  }
  HeldBoth(const HeldBoth&) = delete;
  HeldBoth& operator=(const HeldBoth&) = delete;

 private:
  void lock_first() { access_ == Access::read ? first_.mutex.lock_shared() : first_.mutex.lock(); }

  Guard& first_;
  Access access_;
  Guard& second_;
  PyThreadState* thread_ = nullptr;
};

/// Gives up the interpreter's lock during a long call that uses no structure of another thread.
using Unlocked = py::gil_scoped_release;

}  // namespace tally::python
