#pragma once

#include <functional>
#include <mutex>
#include <shared_mutex>
#include <type_traits>

#include "python.hpp"

namespace tally::python {

/// Whether a call changes a structure.
enum class Access { read, write };

/// Takes the interpreter's lock again. In a daemon thread of a program that ends, Python would end the thread in the middle of
/// a call; here the thread waits for the end of the process.
void take_interpreter(PyThreadState* thread) noexcept;

/// callable(*arguments, **fields). In a daemon thread of a program that ends, Python would end the thread in the middle of the
/// call, and C++ would then free objects without the interpreter's lock; here the thread waits for the end of the process.
py::object call_python(const py::object& callable, const py::tuple& arguments, const py::dict& fields = {});

/// Gives up the interpreter's lock during a long call that uses no structure of another thread.
class Unlocked {
 public:
  Unlocked() : thread_(PyEval_SaveThread()) {}
  ~Unlocked() { take_interpreter(thread_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* thread_;
};

/// Keeps threads apart that use one structure: batches run without the interpreter's lock, many reads or one write at a
/// time. A write that waits lets no later read pass.
///
/// The interpreter's lock protects the counts, so a short call that finds no batch needs no other lock: no batch can begin
/// before the call ends.
class Guard {
 public:
  bool has_batches() const noexcept { return num_batches_ != 0; }

  /// With the interpreter's lock, before and after a batch. Throws ValueError in a process that was forked while another
  /// thread changed the structure, because what it holds is then half changed.
  void begin(Access access);
  void end(Access access) noexcept;

  /// Without the interpreter's lock, between the two.
  void lock(Access access);
  void unlock(Access access) noexcept { access == Access::read ? mutex_.unlock_shared() : mutex_.unlock(); }

 private:
  void begin_in_forked_process();

  int num_batches_ = 0;
  int num_writes_ = 0;  // of the batches
  unsigned num_forks_ = 0;
  std::mutex entrance_;
  std::shared_mutex mutex_;
};

/// What `use` of a structure returns; it may run without the interpreter's lock, so that it makes no object of Python.
template <class Result>
concept NotOfPython = !std::is_base_of_v<py::handle, std::remove_cvref_t<Result>>;

/// Held during one call on a structure. A batch of at least `long_batch` keys gives up the interpreter's lock meanwhile.
class Held {
 public:
  static constexpr std::size_t long_batch = 256;

  Held(Guard& guard, Access access, std::size_t num_keys = 1) : guard_(guard), access_(access) {
    if (num_keys < long_batch && !guard.has_batches()) return;
    guard_.begin(access);
    thread_ = PyEval_SaveThread();
    guard_.lock(access);
  }
  ~Held() {
    if (thread_ == nullptr) return;
    guard_.unlock(access_);
    take_interpreter(thread_);
    guard_.end(access_);
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
  HeldBoth(Guard& first, Access access, Guard& second);
  ~HeldBoth();
  HeldBoth(const HeldBoth&) = delete;
  HeldBoth& operator=(const HeldBoth&) = delete;

 private:
  Guard& first_;
  Access access_;
  Guard& second_;
  PyThreadState* thread_;
};

}  // namespace tally::python
