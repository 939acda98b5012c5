// What the tests of the ONNX room share: the loaded plugins, ONNX Runtime, small models, comparison of tensors.
#pragma once

#include <rewright/onnx/runtime.h>
#include <rewright/plugin/registry.h>

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <span>
#include <string>
#include <vector>

#include "onnx/export.h"
#include "onnx/import.h"

namespace rewright::onnx_test {

using Model = ::onnx::ModelProto;

/// All plugins of the build, loaded once.
const Registry& registry();
const Runtime& runtime();
/// ONNX Runtime, or a skipped test that says what to install.
#define REQUIRE_RUNTIME()                                                                                             \
  do {                                                                                                                \
    if (auto version = ::rewright::onnx_test::runtime().version(); !version) GTEST_SKIP() << version.error().message; \
  } while (false)

/// An empty model of the opset, and the parts that tests put into one.
Model make_model(int opset = 17);
void add_input(Model& model, const std::string& name, const std::vector<std::int64_t>& dims, int element = 1);
void add_output(Model& model, const std::string& name, const std::vector<std::int64_t>& dims, int element = 1);
/// Values k/8, (k+1)/8, ... for a seed k, wrapped to [-1, 1].
::onnx::TensorProto& add_weight(Model& model, const std::string& name, const std::vector<std::int64_t>& dims,
                                int seed = 1);
void add_integers(Model& model, const std::string& name, const std::vector<std::int64_t>& values);
::onnx::NodeProto& add_node(Model& model, const std::string& type, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs);
void set(::onnx::NodeProto& node, const std::string& attribute, std::int64_t value);
void set(::onnx::NodeProto& node, const std::string& attribute, const std::vector<std::int64_t>& values);

std::span<const std::byte> bytes_of(const std::string& text);
Result<ImportedModel> import(const Model& model, const ImportOptions& options = {});
/// Imports and exports; fails the test where that fails. Unless the options say otherwise, operators write all that
/// they read.
Model round_trip(const Model& model, const ExportOptions& options = {.keep_original = false});
Model parse(const std::string& bytes);

RuntimeTensor random_tensor(const std::string& name, const TensorType& type, unsigned seed);
Result<std::vector<RuntimeTensor>> run(const std::string& model, const std::vector<RuntimeTensor>& inputs);
/// Empty where both are equal up to `tolerance`, relative to 1 or the greater value; else where they differ.
std::string difference(const std::vector<RuntimeTensor>& expected, const std::vector<RuntimeTensor>& actual,
                       double tolerance = 1e-5);
/// Both models on the same random inputs, drawn for the data inputs of the imported graph.
std::string difference(const Model& expected, const Model& actual, double tolerance = 1e-5);

}  // namespace rewright::onnx_test
