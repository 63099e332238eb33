// Loaded into a command before the C library: names that end in ".slow" are looked up for 3 s, and then not found.

#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>

#include <string_view>

extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
  if (host != nullptr && std::string_view(host).ends_with(".slow")) {
    (void)::poll(nullptr, 0, 3000);
    return EAI_AGAIN;
  }
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return next(host, service, hints, found);
}
