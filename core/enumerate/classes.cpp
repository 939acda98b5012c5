// From records of equal fingerprints to candidates.
#include "enumerate/classes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <set>

namespace rewright::enumeration {

namespace {

/// Calls `visit` with the value of every operand and output of the record.
template <class Visit>
void for_each_operand(const ValuePool& pool, const Record& record, Visit visit) {
  for (const ApplicationId id : record.applications) {
    const Application& application = pool.application(id);
    for (std::uint32_t i = 0; i < application.operand_count; ++i) visit(application.operands[i]);
  }
}

Result<Graph> make_graph(const EnumerationConfig& config, const ValuePool& pool, const Record& record,
                         const std::set<ValueId>& inputs) {
  GraphBuilder builder;
  std::map<ValueId, Port> ports;
  for (const ValueId id : inputs) {
    const EnumerationInput& input = config.inputs[id];
    REWRIGHT_TRY(ports[id], builder.input(input.name, {input.shape, ElementType::kFloat32}, input.kind));
  }
  for (const ApplicationId id : record.applications) {
    const Application& application = pool.application(id);
    std::vector<Port> operands;
    for (std::uint32_t i = 0; i < application.operand_count; ++i) operands.push_back(ports.at(application.operands[i]));
    REWRIGHT_TRY(const auto results, builder.apply(*config.operators[application.choice].op, pool.params(application),
                                                   std::move(operands)));
    for (std::uint32_t i = 0; i < application.output_count; ++i) ports[application.first_output + i] = results[i];
  }
  for (const ValueId id : outputs_of(pool, record)) builder.output(ports.at(id));
  return builder.finish();
}

}  // namespace

std::vector<ValueId> outputs_of(const ValuePool& pool, const Record& record) {
  std::vector<ValueId> outputs = record.wires;
  for (const ApplicationId id : record.applications) {
    const Application& application = pool.application(id);
    for (std::uint32_t i = 0; i < application.output_count; ++i) outputs.push_back(application.first_output + i);
  }
  for_each_operand(pool, record, [&](ValueId id) { std::erase(outputs, id); });
  const auto by_hash = [&](ValueId a, ValueId b) { return pool.value(a).hash < pool.value(b).hash; };
  std::sort(outputs.begin(), outputs.end(), by_hash);
  for (std::size_t i = 1; i < outputs.size(); ++i) {
    if (pool.value(outputs[i - 1]).hash == pool.value(outputs[i]).hash) return {};
  }
  return outputs;
}

Hash128 fingerprint_of(const ValuePool& pool, std::span<const ValueId> outputs) {
  Hash128 sum{outputs.size(), 0};
  for (const ValueId id : outputs) {
    const Hash128 hash = pool.value(id).hash;
    const XXH128_hash_t mixed = XXH3_128bits(&hash, sizeof(hash));
    sum.low += mixed.low64;
    sum.high += mixed.high64;
  }
  return sum;
}

Result<Candidate> make_candidate(const EnumerationConfig& config, const ValuePool& pool, const Record& source,
                                 const Record& target) {
  std::set<ValueId> inputs;
  for (const Record* record : {&source, &target}) {
    for_each_operand(pool, *record, [&](ValueId id) {
      if (id < pool.input_count()) inputs.insert(id);
    });
    inputs.insert(record->wires.begin(), record->wires.end());
  }
  Candidate candidate;
  REWRIGHT_TRY(candidate.source, make_graph(config, pool, source, inputs));
  REWRIGHT_TRY(candidate.target, make_graph(config, pool, target, inputs));
  const Hash128 hashes[2] = {structural_hash(candidate.source), structural_hash(candidate.target)};
  const XXH128_hash_t id = XXH3_128bits(hashes, sizeof(hashes));
  candidate.id = to_string(Hash128{id.low64, id.high64});
  return candidate;
}

Result<bool> confirmed(const Candidate& candidate, std::uint64_t seed, std::uint32_t samples) {
  for (std::uint32_t sample = 0; sample < samples; ++sample) {
    const auto inputs = sample_inputs(candidate.source, seed, sample);
    REWRIGHT_TRY(const auto left, evaluate<Field>(candidate.source, inputs));
    REWRIGHT_TRY(const auto right, evaluate<Field>(candidate.target, inputs));
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i].shape() != right[i].shape() || left[i].values() != right[i].values()) return false;
    }
  }
  return true;
}

}  // namespace rewright::enumeration
