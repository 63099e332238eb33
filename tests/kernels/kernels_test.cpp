// Loops with vector instructions are compiled once for every instruction set. Here each of them runs under each
// that this processor has; the others are skipped by name, which ctest lists. A new file of such loops belongs
// in the list below; a test fails until it is there.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "checks.hpp"
#include "tally/detail/batches/blocked_kernels.hpp"
#include "tally/detail/batches/register_kernels.hpp"
#include "tally/detail/dleft/kernels.hpp"

namespace tally::test {
namespace {

struct Kernels {
  std::string_view file;
  void (*expect_as_plain_code)();
};

constexpr std::array kernel_files{
    Kernels{"src/detail/batches/blocked_kernels.cpp", expect_blocked_kernels_as_single_keys},
    Kernels{"src/detail/batches/counter_kernels.cpp", expect_counter_kernels_as_general_code},
    Kernels{"src/detail/batches/register_kernels.cpp", expect_register_kernels_as_positions},
    Kernels{"src/detail/compact/kernels.cpp", expect_compact_kernels_as_plain_lines},
    Kernels{"src/detail/dleft/kernels.cpp", expect_dleft_kernels_as_general_code},
    Kernels{"src/sets/hash_set.cpp", expect_find_absent_as_contains},
    Kernels{"src/sketches/find_likely.cpp", expect_find_likely_as_find},
    Kernels{"tools/tally/input/find_bytes.cpp", expect_find_bytes_as_byte_by_byte},
};

/// The folder and the file: there are several kernels.cpp.
std::string name_of(const std::filesystem::path& path) {
  return path.parent_path().filename().string() + "_" + path.stem().string();
}

void PrintTo(const Kernels& kernels, std::ostream* out) { *out << kernels.file; }

/// A bit of Highway's each: the instruction sets that the loops were compiled for.
std::vector<std::int64_t> compiled_instruction_sets() {
  std::vector<std::int64_t> sets;
  for (std::int64_t left = HWY_TARGETS; left != 0; left &= left - 1) sets.push_back(left & -left);
  return sets;
}

/// The loops take this instruction set and no better one, for as long as this lives.
class ChosenInstructionSet {
 public:
  explicit ChosenInstructionSet(std::int64_t set) { hwy::SetSupportedTargetsForTest(set); }
  ~ChosenInstructionSet() { hwy::SetSupportedTargetsForTest(0); }
  ChosenInstructionSet(const ChosenInstructionSet&) = delete;
  ChosenInstructionSet& operator=(const ChosenInstructionSet&) = delete;
};

class KernelsOn : public ::testing::TestWithParam<std::tuple<Kernels, std::int64_t>> {};

TEST_P(KernelsOn, AnInstructionSetDoWhatPlainCodeDoes) {
  const auto& [kernels, set] = GetParam();
  if ((hwy::SupportedTargets() & set) == 0) {
    GTEST_SKIP() << "this processor has no " << hwy::TargetName(set) << ": " << kernels.file;
  }
  const ChosenInstructionSet chosen(set);
  kernels.expect_as_plain_code();
}

INSTANTIATE_TEST_SUITE_P(Each, KernelsOn,
                         ::testing::Combine(::testing::ValuesIn(kernel_files),
                                            ::testing::ValuesIn(compiled_instruction_sets())),
                         [](const auto& instance) {
                           return name_of(std::get<0>(instance.param).file) + "_" +
                                  hwy::TargetName(std::get<1>(instance.param));
                         });

TEST(Kernels, ChosenByInstructionSetAreOthersForEachOne) {
  const DLeftShape shape{.buckets_per_subtable = 16,
                         .num_subtables = 4,
                         .cells_per_bucket = 8,
                         .remainder_bits = 14,
                         .counter_bits = 2,
                         .least_remainder_bits = 14};
  std::set<const detail::DLeftKernels*> kernels;
  std::set<const detail::RegisterKernels*> register_kernels;
  std::size_t num_sets = 0;
  for (const std::int64_t set : compiled_instruction_sets()) {
    if ((hwy::SupportedTargets() & set) == 0) continue;
    const ChosenInstructionSet chosen(set);
    kernels.insert(detail::dleft_kernels(shape));
    register_kernels.insert({&detail::register_kernels(8), &detail::register_kernels(16)});
    EXPECT_EQ(detail::blocked_line_test() != nullptr, set == HWY_AVX3 || set == HWY_AVX3_DL)
        << hwy::TargetName(set);
    ++num_sets;
  }
  EXPECT_EQ(kernels.size(), num_sets);
  EXPECT_EQ(register_kernels.size(), 2 * num_sets);
  EXPECT_FALSE(kernels.contains(nullptr));
}

TEST(Kernels, OfEveryFileThatIsCompiledForManyInstructionSetsAreTested) {
  const std::filesystem::path root = TALLY_SOURCE_DIR;
  std::set<std::string> files;
  for (const char* directory : {"src", "include", "tools", "experiments", "benchmarks"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / directory)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        // One file of all instruction sets, or the loops of one of them in a header that such a file includes.
        if (!line.starts_with("#include <hwy/foreach_target.h>") && !line.starts_with("HWY_BEFORE_NAMESPACE"))
          continue;
        // A part of kernels.cpp is tested with it.
        const bool is_part = entry.path().filename().generic_string().ends_with("-inl.hpp");
        const auto file = is_part ? entry.path().parent_path() / "kernels.cpp" : entry.path();
        files.insert(std::filesystem::relative(file, root).generic_string());
      }
    }
  }
  std::set<std::string> tested;
  for (const Kernels& kernels : kernel_files) tested.insert(std::string(kernels.file));
  EXPECT_EQ(files, tested);
}

}  // namespace
}  // namespace tally::test
