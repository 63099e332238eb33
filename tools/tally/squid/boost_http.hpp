#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdint>

// Boost.Asio and Boost.Beast, under the names that the client and the server use.

namespace tally::cli {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = asio::ip::tcp;
using Error = boost::system::error_code;

inline constexpr std::uint32_t max_header_bytes = 8192;
inline constexpr std::chrono::milliseconds between_looks_at_signals{100};

}  // namespace tally::cli
