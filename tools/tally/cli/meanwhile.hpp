#pragma once

#include <functional>
#include <utility>

namespace tally::cli {

/// What else a command does: the thread that reads its input calls it after each batch, and again and again while the
/// input makes it wait. One at a time per thread.
class Meanwhile {
 public:
  using Work = std::function<void(bool input_waits)>;

  explicit Meanwhile(Work work) : work_(std::move(work)) { of_thread() = this; }
  ~Meanwhile() { of_thread() = nullptr; }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

  static void run(bool input_waits) {
    if (of_thread() != nullptr) of_thread()->work_(input_waits);
  }

 private:
  static Meanwhile*& of_thread() noexcept {
    thread_local Meanwhile* current = nullptr;
    return current;
  }

  Work work_;
};

}  // namespace tally::cli
