#include "node/bus_servers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tally::cli {

BusServers::BusServers(redis_client::Servers servers, std::optional<redis_client::Servers> publish,
                       HostNames& names) {
  using Role = ServerChoice::Role;
  if (publish) all_.push_back({.choice = ServerChoice(std::move(*publish), Role::primary, names)});
  all_.push_back({.choice = ServerChoice(std::move(servers), publish ? Role::any : Role::primary, names)});
}

void BusServers::begin(Nanoseconds now) {
  for (One& one : all_) one.choice.begin(now);
}

bool BusServers::is_searching() const noexcept {
  return std::ranges::any_of(all_, [](const One& one) { return one.choice.is_searching(); });
}

bool BusServers::has_choice() const noexcept {
  return std::ranges::any_of(all_, [](const One& one) { return !one.choice.servers().is_one(); });
}

bool BusServers::has_found() const noexcept {
  return std::ranges::all_of(all_, [](const One& one) { return one.choice.found().has_value(); });
}

bool BusServers::has_found_others() const noexcept {
  return has_found() &&
         std::ranges::any_of(all_, [](const One& one) { return *one.choice.found() != one.used; });
}

void BusServers::use_found() {
  for (One& one : all_) one.used = *one.choice.found();
}

std::string BusServers::faults() const {
  std::string text;
  for (const One& one : all_) {
    if (one.choice.found()) continue;
    text += (text.empty() ? "" : "; ") + one.choice.faults();
  }
  return text;
}

Nanoseconds BusServers::between_searches() const noexcept {
  Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
  for (const One& one : all_) {
    if (!one.choice.servers().is_one()) least = std::min(least, one.choice.between_searches(one.used));
  }
  return least;
}

std::string BusServers::shown() const {
  const std::string text = all_.back().choice.servers().shown();
  return all_.size() == 1 ? text
                          : fmt::format("{}, to publish {}", text, all_.front().choice.servers().shown());
}

std::string BusServers::shown_used() const {
  const std::string text = to_subscribe().shown();
  return all_.size() == 1 ? text : fmt::format("{}, to publish {}", text, to_publish().shown());
}

void BusServers::add_polled(std::vector<pollfd>& polled) const {
  for (const One& one : all_) one.choice.add_polled(polled);
}

void BusServers::step(const std::vector<pollfd>& polled, Nanoseconds now) {
  for (One& one : all_) one.choice.step(polled, now);
}

Nanoseconds BusServers::deadline() const noexcept {
  Nanoseconds earliest = std::numeric_limits<Nanoseconds>::max();
  for (const One& one : all_) earliest = std::min(earliest, one.choice.deadline());
  return earliest;
}

}  // namespace tally::cli
