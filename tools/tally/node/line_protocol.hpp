#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "node/api_protocol.hpp"
#include "node/line_session.hpp"

namespace tally::cli {

/// Whether a connection that begins with this byte speaks lines. A method of HTTP begins with a letter, so a page in a browser
/// cannot get here.
bool begins_a_line(char first) noexcept;

/// The lines of standard input over a socket, and besides them !json and !text, which choose the form of the answers, and !token.
/// What was refused is answered with "!refused<TAB>why". With a token, `is_token` given, the first line must be "!token TOKEN".
std::unique_ptr<ApiProtocol> make_line_protocol(const LineSession::Options& options, SummaryNode& node,
                                                std::function<bool(std::string_view)> is_token);

}  // namespace tally::cli
