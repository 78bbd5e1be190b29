#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "results/value.hpp"

namespace dlbench::results {

/// A JSON schema that values are checked against: results/schema.json and its neighbors are built
/// in, so that every reader checks the same. Of the standard it knows the keywords
/// that they use, and is stricter in one point: an integer is written without a point.
class Schema {
 public:
  /// One part of a schema, as behind a `$ref`.
  struct Part;

  /// Of results.json.
  static const Schema& of_results();
  /// Of the lines of a journal.
  static const Schema& of_journal();
  /// Of comparison.json.
  static const Schema& of_comparison();

  /// Throws std::invalid_argument for what is no schema or has a keyword that is not known here.
  explicit Schema(std::string_view text);
  ~Schema();

  /// The part behind a JSON pointer, as "/$defs/context"; the whole schema behind none.
  const Part& part(const std::string& pointer = "") const;

 private:
  class Compiler;

  std::map<std::string, std::unique_ptr<Part>> parts_;  ///< by pointer
};

/// May keys that the schema requires be absent? They may in what is not complete yet.
enum class Completeness { whole, partial };

/// Throws UsageError "PLACE/key: expected ..., found ..." at the first fault.
void check(const Value& value, const Schema::Part& part, std::string_view place,
           Completeness completeness = Completeness::whole);

}  // namespace dlbench::results
