#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "failing_allocation.hpp"

namespace tally::test {

/// Runs `operation` with no memory for its first request, for its second, and so on until it makes no more.
///
/// Law: where it throws, nothing has changed and it works the next time; where it goes on without that memory, it has
/// done what it does with it. `make()` gives the object, the same each time, `operate(object)` changes it or not, and
/// `describe(object)` says all there is to know of it. Returns how many requests it makes. Where
/// those are many, one in `stride` is refused.
template <class Make, class Operate, class Describe>
std::uint64_t fail_each(std::string_view operation, Make make, Operate operate, Describe describe,
                        std::uint64_t stride = 1) {
  auto untouched = make();
  const auto before = describe(untouched);
  operate(untouched);
  const auto after = describe(untouched);
  for (std::uint64_t which = 0;; which += stride) {
    auto object = make();
    bool has_thrown = false;
    {
      const FailingAllocation failing(which);
      try {
        operate(object);
      } catch (const std::bad_alloc&) {
        has_thrown = true;
      } catch (const std::system_error& error) {
        has_thrown = error.code() == std::errc::not_enough_memory;
        if (!has_thrown) throw;
      }
    }
    if (has_thrown) {
      EXPECT_TRUE(describe(object) == before)
          << operation << " threw at request " << which << " and has changed something";
      operate(object);
    }
    EXPECT_TRUE(describe(object) == after)
        << operation << ", refused request " << which << (has_thrown ? ", did not work afterwards" : "");
    if (!FailingAllocation::has_failed()) {
      EXPECT_FALSE(has_thrown) << operation;
      return which;
    }
    if (testing::Test::HasFailure()) return which;
  }
}

/// Copies and assignments of a type, of a larger object to a smaller one and the other way round. `make(is_large)`.
template <class Make, class Describe>
void fail_each_copy(std::string_view type, Make make, Describe describe) {
  using Object = decltype(make(true));
  static_assert(std::is_nothrow_move_constructible_v<Object> && std::is_nothrow_move_assignable_v<Object>);
  const std::string name(type);
  for (const bool is_large : {false, true}) {
    const Object source = make(is_large);
    using Description = decltype(describe(source));
    const std::uint64_t num_refused_copies = fail_each(
        name + " copied", [] { return std::unique_ptr<Object>(); },
        [&](std::unique_ptr<Object>& object) { object = std::make_unique<Object>(source); },
        [&](const std::unique_ptr<Object>& object) { return object ? describe(*object) : Description{}; });
    EXPECT_GE(num_refused_copies, 2u) << name << ": a copy that needs no memory is none";
    const std::uint64_t num_refused_assignments = fail_each(
        name + " assigned", [&] { return make(!is_large); }, [&](Object& object) { object = source; },
        describe);
    EXPECT_GE(num_refused_assignments, 1u) << name;
    Object assigned = make(!is_large);
    assigned = source;
    EXPECT_TRUE(describe(assigned) == describe(source)) << name;
    const Object& same = assigned;
    assigned = same;
    EXPECT_TRUE(describe(assigned) == describe(source)) << name << " assigned to itself";
  }
}

}  // namespace tally::test
