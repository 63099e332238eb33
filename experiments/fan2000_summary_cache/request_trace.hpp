#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "random.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::experiments {

struct Request {
  std::uint32_t proxy = 0;
  std::uint32_t document = 0;
};

/// Requests as web proxies see them: the document of rank i is asked for with probability proportional to i^-zipf;
/// a share of the requests repeats one of the last `recent` requests of the same proxy. Clients are spread
/// evenly, so every proxy sees the same law. No document ever changes.
struct TraceShape {
  std::uint32_t num_proxies = 0;
  std::uint32_t num_documents = 0;
  double zipf = 0.75;
  double locality = 0.2;
  std::uint32_t recent = 500;
};

/// Pr(rank i) of the requests that repeat nothing.
inline std::vector<double> popularity(const TraceShape& shape) {
  std::vector<double> weights(shape.num_documents);
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    sum += weights[i] = std::pow(static_cast<double>(i + 1), -shape.zipf);
  for (double& weight : weights) weight /= sum;
  return weights;
}

class GeneratedTrace {
 public:
  GeneratedTrace(const TraceShape& shape, std::uint64_t seed)
      : shape_(shape), random_(seed), cumulative_(popularity(shape)), recent_(shape.num_proxies) {
    for (std::size_t i = 1; i < cumulative_.size(); ++i) cumulative_[i] += cumulative_[i - 1];
  }

  Request next() {
    const auto proxy = static_cast<std::uint32_t>(random_.below(shape_.num_proxies));
    std::vector<std::uint32_t>& recent = recent_[proxy];
    const bool repeats = uniform() < shape_.locality && !recent.empty();
    const std::uint32_t document = repeats ? recent[random_.below(recent.size())] : draw();
    if (recent.size() < shape_.recent) {
      recent.push_back(document);
    } else {
      recent[random_.below(recent.size())] = document;
    }
    return {proxy, document};
  }

 private:
  double uniform() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }

  std::uint32_t draw() {
    const auto at = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, uniform());
    return static_cast<std::uint32_t>(at - cumulative_.begin());
  }

  TraceShape shape_;
  test::Random random_;
  std::vector<double> cumulative_;
  std::vector<std::vector<std::uint32_t>> recent_;
};

/// A trace file, a request a line: the proxy or client, the URL, and whatever follows, which is not used. Clients are
/// assigned to proxies by their hash.
struct TraceFile {
  std::vector<Request> requests;
  std::vector<std::uint32_t> url_bytes;  ///< of each document

  TraceFile(const std::string& name, std::uint32_t num_proxies) {
    std::ifstream file(name);
    if (!file) throw std::runtime_error("cannot read " + name);
    std::unordered_map<std::string, std::uint32_t> documents;
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string client;
      std::string url;
      if (!(words >> client >> url)) continue;
      const auto [found, is_new] = documents.emplace(url, static_cast<std::uint32_t>(documents.size()));
      if (is_new) url_bytes.push_back(static_cast<std::uint32_t>(url.size()));
      requests.push_back({static_cast<std::uint32_t>(hash_key(std::string_view(client), 0).low % num_proxies),
                          found->second});
    }
    if (requests.empty()) throw std::runtime_error(name + ": no line has a client and a URL");
  }
};

/// Bytes of a generated document's URL: 30 to 70.
inline std::uint32_t generated_url_bytes(std::uint32_t document) {
  return 30 + static_cast<std::uint32_t>(hash_key(std::uint64_t{document}, 1).low % 41);
}

}  // namespace tally::experiments
