#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

#include "running_module.hpp"

namespace tally::test {

/// The address space of the server ends shortly above what it has.
inline void leave_address_space(RunningModule& redis, std::optional<rlim_t> num_bytes) {
  const std::string text = redis.call({"INFO", "server"}).text;
  const int pid = std::stoi(text.substr(text.find("process_id:") + 11));
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  if (num_bytes) {
    std::ifstream pages("/proc/" + std::to_string(pid) + "/statm");
    rlim_t num_pages = 0;
    pages >> num_pages;
    limit.rlim_cur = num_pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + *num_bytes;
  }
  ASSERT_EQ(prlimit(pid, RLIMIT_AS, &limit, nullptr), 0);
}

}  // namespace tally::test
