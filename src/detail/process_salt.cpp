#include "tally/detail/process_salt.hpp"

#include "detail/random_word.hpp"

namespace tally::detail {
namespace {

ProcessSalt drawn() {
  std::random_device device;
  const std::uint64_t first = random_word(device) | 1;
  return {first, random_word(device) | 1};
}

}  // namespace

const ProcessSalt& process_salt() {
  static const ProcessSalt salt = drawn();
  return salt;
}

}  // namespace tally::detail
