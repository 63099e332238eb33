#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tally::cli {

/// What a client asks for, with percent signs decoded.
struct HttpRequest {
  std::string method;
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;
  std::string host;
  std::string origin;
  std::string fetch_site;  ///< Sec-Fetch-Site, which browsers send
  std::string content_type;
  std::string authorization;
  std::string body;
  bool has_body = false;  ///< as its header says, before the body has come
  bool is_local = true;   ///< over a unix socket, which only who may open the file can reach
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string allow = {};  ///< the methods for a 405
};

/// "/a?b=%41" as a path and a query. False for a target that is no path, or has percent signs that are no bytes.
bool split_target(std::string_view target, HttpRequest& request);

}  // namespace tally::cli
