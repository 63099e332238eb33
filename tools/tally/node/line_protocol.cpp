#include "node/line_protocol.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "text/json.hpp"
#include "text/key_json.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20;
// Answers are sent before further lines are taken.
constexpr std::size_t enough_output = std::size_t{1} << 16;

class LineProtocol final : public ApiProtocol {
 public:
  LineProtocol(const LineSession::Options& options, SummaryNode& node,
               std::function<bool(std::string_view)> is_token)
      : session_(options, node,
                 [this](LineSession::Refusal refusal, std::uint64_t number, std::string_view why) {
                   refused_ += refusal_text(refusal, number, why);
                 }),
        is_token_(std::move(is_token)) {}

  bool step(std::string& input, std::string& output, Nanoseconds now) override {
    session_.end_wait(now, has_hung_up_);
    take_answers(output);
    std::size_t begin = 0;
    while (!session_.is_waiting() && !is_last_ && output.size() < enough_output) {
      const std::size_t end = input.find('\n', std::max(begin, scanned_));
      if (end == input.npos) break;
      take(std::string_view(input).substr(begin, end - begin), now);
      begin = end + 1;
      take_answers(output);
    }
    session_.apply_changes();
    take_answers(output);
    input.erase(0, begin);
    const bool has_all = input.find('\n') == input.npos;
    scanned_ = has_all ? input.size() : 0;
    if (has_all && input.size() > longest_line) {
      output +=
          refusal_text(LineSession::Refusal::line, 1,
                       fmt::format("a line has more than {} bytes; the connection is closed", longest_line));
      is_last_ = true;
    }
    is_in_request_ = has_all && !input.empty();
    return !has_all && !is_last_ && (has_hung_up_ || !session_.is_waiting());
  }

  void time_out(std::string& output, Nanoseconds limit) override {
    output += refusal_text(LineSession::Refusal::line, 1,
                           fmt::format("the end of a line did not come within {} s; the connection is closed",
                                       limit / nanoseconds_per_second));
    is_last_ = true;
  }
  std::uint64_t num_requests() const noexcept override { return num_lines_; }
  void hang_up() noexcept override { has_hung_up_ = true; }
  bool is_in_request() const noexcept override { return is_in_request_ && !session_.is_waiting(); }
  bool is_last() const noexcept override { return is_last_; }
  bool wants_input() const noexcept override { return !session_.is_waiting(); }
  Nanoseconds deadline() const noexcept override { return session_.deadline(); }
  bool ends_when_idle() const noexcept override { return is_token_ != nullptr; }

 private:
  void take(std::string_view line, Nanoseconds now) {
    ++num_lines_;
    constexpr std::string_view token = "!token ";
    if (is_token_) {
      if (line.starts_with(token) && is_token_(line.substr(token.size()))) {
        is_token_ = nullptr;
      } else {
        refused_ += refusal_text(LineSession::Refusal::line, 1,
                                 "the token is missing or wrong; the first line must be !token TOKEN");
        is_last_ = true;
      }
    } else if (line == "!json" || line == "!text") {
      session_.set_json(line == "!json");
    } else if (!line.starts_with(token)) {  // one that is not needed
      session_.take(line, now);
    }
  }

  void take_answers(std::string& output) {
    output += std::exchange(refused_, {});
    output += session_.take_answers();
  }

  std::string refusal_text(LineSession::Refusal refusal, std::uint64_t number, std::string_view why) const {
    const std::string text = refusal == LineSession::Refusal::line ? std::string(why)
                             : refusal == LineSession::Refusal::full
                                 ? fmt::format("{} insertions: the filter is full", number)
                                 : fmt::format("{} removals: the keys are provably absent", number);
    return session_.is_json() ? json_line(Json{{"refused", text}}) : fmt::format("!refused\t{}\n", text);
  }

  LineSession session_;
  std::function<bool(std::string_view)> is_token_;  // null: none is needed
  std::string refused_;
  std::size_t scanned_ = 0;  // there is no end of a line before this
  std::uint64_t num_lines_ = 0;
  bool is_in_request_ = false;
  bool is_last_ = false;
  bool has_hung_up_ = false;
};

}  // namespace

bool begins_a_line(char first) noexcept {
  return first == '+' || first == '-' || first == '?' || first == '!';
}

std::unique_ptr<ApiProtocol> make_line_protocol(const LineSession::Options& options, SummaryNode& node,
                                                std::function<bool(std::string_view)> is_token) {
  return std::make_unique<LineProtocol>(options, node, std::move(is_token));
}

}  // namespace tally::cli
