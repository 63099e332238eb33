#include "node/host_names.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "node/ip_address.hpp"

namespace tally::cli {
namespace {

// After its end, a lookup is good for connections that are made within this time.
constexpr Nanoseconds lookup_lasts = nanoseconds_per_second;
// With an address of before, and without one.
constexpr Nanoseconds patience_with_lookup = 2 * nanoseconds_per_second;
constexpr Nanoseconds patience_with_first_lookup = 5 * nanoseconds_per_second;

/// Threads that are made meanwhile get no signals, which are to interrupt the loop.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

// Wakes the loop. Threads may ring it when there is no loop any more.
struct HostNames::Bell {
  Bell() : file(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (file < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~Bell() { ::close(file); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ring() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t count = ::write(file, &one, sizeof one);
  }
  void silence() const noexcept {
    std::uint64_t number = 0;
    [[maybe_unused]] const ssize_t count = ::read(file, &number, sizeof number);
  }

  int file;
};

struct HostNames::Lookup {
  std::mutex mutex;
  std::optional<Answer> answer;
};

HostNames::HostNames(LookUp look_up) : look_up_(std::move(look_up)), bell_(std::make_shared<Bell>()) {}
HostNames::~HostNames() = default;

HostNames::Found HostNames::find(const redis_client::Address& address, Nanoseconds now) {
  if (address.host.empty() || is_ip_address(address.host)) return {.address = address};
  Name& name = names_[address.host];
  name.wake_at.reset();
  take_answer(name, now);
  const bool is_fresh = name.ended_at && now - *name.ended_at < lookup_lasts;
  if (!name.lookup && !is_fresh) start(address.host, name, now);
  const Nanoseconds until =
      name.started_at + (name.ip_address.empty() ? patience_with_first_lookup : patience_with_lookup);
  if (name.lookup && now < until) {
    name.wake_at = until;
    return {};
  }
  if (name.ip_address.empty())
    return {.fault = name.lookup ? "its name is not found within 5 s" : name.fault};
  Found found{.address = address};
  found.address->host = name.ip_address;
  return found;
}

void HostNames::start(const std::string& host, Name& name, Nanoseconds now) {
  name.started_at = now;
  try {
    auto lookup = std::make_shared<Lookup>();
    const NoSignals none;
    // Nobody can interrupt getaddrinfo, so nobody waits for the thread either.
    std::thread([look_up = look_up_, host, lookup, bell = bell_] {
      Answer answer;
      try {
        answer = look_up(host);
      } catch (const std::exception& error) {
        answer.fault = error.what();
      }
      const std::lock_guard lock(lookup->mutex);
      lookup->answer = std::move(answer);
      bell->ring();
    }).detach();
    name.lookup = std::move(lookup);
  } catch (const std::system_error& error) {
    name.fault = error.what();
    name.ended_at = now;
  }
}

void HostNames::take_answer(Name& name, Nanoseconds now) {
  if (!name.lookup) return;
  const std::shared_ptr<Lookup> lookup = name.lookup;
  const std::lock_guard lock(lookup->mutex);
  if (!lookup->answer) return;
  name.lookup.reset();
  name.ended_at = now;
  name.fault = lookup->answer->fault;
  if (name.fault.empty()) name.ip_address = lookup->answer->ip_address;
}

void HostNames::add_polled(std::vector<pollfd>& polled) const { polled.push_back({bell_->file, POLLIN, 0}); }

void HostNames::step(Nanoseconds now) {
  bell_->silence();
  for (auto& [host, name] : names_) {
    if (name.wake_at && now >= *name.wake_at) name.wake_at.reset();
  }
}

Nanoseconds HostNames::deadline() const noexcept {
  Nanoseconds earliest = std::numeric_limits<Nanoseconds>::max();
  for (const auto& [host, name] : names_) {
    if (name.wake_at) earliest = std::min(earliest, *name.wake_at);
  }
  return earliest;
}

HostNames::Answer HostNames::ask_system(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) return {.fault = ::gai_strerror(error)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  const addrinfo* chosen = list;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    if (one->ai_family != AF_INET) continue;
    chosen = one;
    break;
  }
  std::array<char, NI_MAXHOST> text{};
  error = ::getnameinfo(chosen->ai_addr, chosen->ai_addrlen, text.data(), text.size(), nullptr, 0,
                        NI_NUMERICHOST);
  if (error != 0) return {.fault = ::gai_strerror(error)};
  return {.ip_address = text.data()};
}

}  // namespace tally::cli
