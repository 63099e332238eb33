#include "tally/detail/process_salt.hpp"

#include <random>

namespace tally::detail {
namespace {

ProcessSalt drawn() {
  std::random_device device;
  const auto word = [&] { return std::uint64_t{device()} << 32 | device(); };
  const std::uint64_t first = word() | 1;
  return {first, word() | 1};
}

}  // namespace

const ProcessSalt& process_salt() {
  static const ProcessSalt salt = drawn();
  return salt;
}

}  // namespace tally::detail
