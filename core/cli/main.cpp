// The program `rewright`: its subcommands, in the order that --help lists them.
#include <cstdlib>

#include "cli/commands.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  // Searches compute on threads of their own: a BLAS beneath a solver must neither start more nor take memory for them.
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  rewright::cli::Program program;
  rewright::cli::add_campaign(program);
  rewright::cli::add_rules(program);
  rewright::cli::add_certificates(program);
  rewright::cli::add_optimize(program);
  rewright::cli::add_compile(program);
  rewright::cli::add_compress(program);
  rewright::cli::add_schedule(program);
  rewright::cli::add_schedule_measuring(program);
  rewright::cli::add_schedule_composing(program);
  rewright::cli::add_schedules(program);
  rewright::cli::add_tune(program);
  rewright::cli::add_tune_model(program);
  rewright::cli::add_tune_worker(program);
  rewright::cli::add_learn_data(program);
  rewright::cli::add_learn_fitting(program);
  rewright::cli::add_learn_explaining(program);
  rewright::cli::add_machine(program);
  rewright::cli::add_study(program);
  rewright::cli::add_searches(program);
  rewright::cli::add_axioms(program);
  rewright::cli::add_experiment(program);
  rewright::cli::add_graph(program);
  rewright::cli::add_operators(program);
  rewright::cli::add_plugins(program);
  rewright::cli::add_new(program);
  rewright::cli::add_describe(program);
  return program.run(argc, argv);
}
