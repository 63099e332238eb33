#include "files/plan_json.hpp"
#include "functions.hpp"
#include "requirements.hpp"
#include "shape/sketch_plan.hpp"
#include "tally/planner/plan.hpp"

namespace tally::page {

Json plan(const Json& fields) {
  Arguments arguments(fields);
  const Requirements wanted = requirements_of(arguments);
  arguments.refuse_others();
  return cli::plan_json(tally::plan(wanted), wanted.preference);
}

Json plan_sketch(const Json& fields) {
  Arguments arguments(fields);
  Requirements wanted;
  arguments.read("epsilon", wanted.epsilon);
  arguments.read("failure_probability", wanted.failure_probability);
  arguments.read("memory_bytes", wanted.memory_bytes);
  arguments.read("total_count", wanted.total_count);
  arguments.refuse_others();
  return cli::sketch_plan_json(cli::sketch_candidates(cli::with_sketch_defaults(wanted)));
}

}  // namespace tally::page
