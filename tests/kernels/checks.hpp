#pragma once

namespace tally::test {

// Each compares the loops of one file, under the instruction set that is chosen, with code that has no vectors.

void expect_blocked_kernels_as_single_keys();
void expect_counter_kernels_as_general_code();
void expect_compact_kernels_as_plain_lines();
void expect_dleft_kernels_as_general_code();
void expect_register_kernels_as_positions();
void expect_find_bytes_as_byte_by_byte();
void expect_find_absent_as_contains();
void expect_find_likely_as_find();

}  // namespace tally::test
