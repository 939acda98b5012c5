// Measured kernels as a data set: from cost caches, from stores with measured schedules, of which each kernel's best
// counts, and from files of kernels, a line of JSON each.
//
//   {"rewright_kernels": 1, "unit": "us", "device": "onnxruntime|ONNX Runtime 1.30.0, one thread, ..."}
//   {"program": "acnet", "kernel": "|relu|data(1, 8)", "us": [1.1, 1.2], "on": ["2026-01-31"]}
//
// A kernel that several files or lines have is one sample of all programs that have it, with all of its times.
#pragma once

#include <rewright/base/result.h>
#include <rewright/plugin/registry.h>
#include <rewright/tune/predictor.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace rewright::learn {

struct Sample {
  std::string kernel;              ///< Its key.
  std::set<std::string> programs;  ///< That have it.
  std::vector<double> us;          ///< Each time that it was measured, the least of its batches.
  tune::Features features = {};
  std::string root = {};  ///< The key of the application with the most operations: kernels of one root are a group.
  std::string kind = {};  ///< Its operator.
  std::set<std::string> days = {};      ///< On which it was measured, "2026-01-31"; as far as they are known.
  std::vector<std::string> chain = {};  ///< Operators, where it is a chain.
  [[nodiscard]] REWRIGHT_API double label_us() const;  ///< The least.
};

struct REWRIGHT_API DataSet {
  std::string device;              ///< "MODEL|DEVICE".
  std::vector<std::string> kinds;  ///< "", then operators, sorted.
  std::vector<Sample> samples;     ///< By key.
  std::size_t unknown = 0;         ///< Kernels that were left out: of operators that are not there.
  std::size_t infinite = 0;        ///< That could not be measured.
  /// Of devices, keys and times.
  [[nodiscard]] std::string hash() const;
};

/// A cost cache or a store is of the program that its name says. `device`: a part of the name of the device, where
/// files have several. Errors: kNotFound, kIo; kParse, FILE:LINE; kMismatch, other units or devices; kUsage, several
/// devices, or none of that name.
[[nodiscard]] REWRIGHT_API Result<DataSet> read_data(const std::vector<std::string>& files, const std::string& device,
                                                     const Registry& registry);
/// As a file of kernels, whatever it was read from.
[[nodiscard]] REWRIGHT_API Status write_data(const std::string& file, const DataSet& data);

/// "2026-01-31", UTC.
[[nodiscard]] std::string today();

/// Adds times of a program's kernels, by key, to such a file, which is made where it is not there. Errors: kIo;
/// kMismatch, a file of another device; as read_data.
REWRIGHT_API Status append_data(const std::string& file, const std::string& device, const std::string& program,
                                const std::map<std::string, std::vector<double>>& us);

/// How far repeated measurements are apart: what no prediction can be better than.
struct Noise {
  std::size_t repeated = 0;     ///< Samples that were measured twice or more, of at least `least_us`.
  double mean = 0, median = 0;  ///< Of the relative distance of the second time from the first.
};
[[nodiscard]] REWRIGHT_API Noise noise_of(const DataSet& data, double least_us);

}  // namespace rewright::learn
