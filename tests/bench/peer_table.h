// Kernels of ours timed beside those of libraries, and the table of it.
//
// A run times all in turn, batch by batch, until its seconds are over; its figure is the least. ratio = least time of
// the best peer / ours, low and high the least and the greatest over the runs. Winograd's algorithm is shown, but is no
// peer: it does less work. Units: seconds within, microseconds in records and tables.
#pragma once

#include <rewright/base/result.h>

#include <functional>
#include <string>
#include <vector>

#include "dnnl_peers.h"

namespace rewright::bench {

struct Timed {
  std::string name;
  std::function<void()> run;
  std::function<double()> seconds = {};  ///< As of a Peer.
  std::vector<double> of_runs = {};
  double error = 0;       ///< Of ours: the greatest, relative to 1 or the value.
  double compile_ms = 0;  ///< Of ours.

  [[nodiscard]] double least() const;
};

struct TimedKernel {
  std::string name;
  double operations = 0;
  double peak_gflops = 0;
  std::vector<Timed> ours, peers;
};

void time_in_turn(TimedKernel& kernel, double seconds, int runs);

/// A line of JSON, and back. Errors: kParse.
[[nodiscard]] std::string to_record(const TimedKernel& kernel);
[[nodiscard]] Result<TimedKernel> kernel_of_record(const std::string& line);

inline constexpr const char* kColumns =
    "kernel\tby\tus\tgflops\tshare\tpeers_us\tratio\tlow\thigh\terror\tcompile_ms\n";
/// A line for each of ours. Errors: more than the machine's peak, which is a fault of measuring.
[[nodiscard]] Result<std::string> rows_of(const TimedKernel& kernel);

}  // namespace rewright::bench
