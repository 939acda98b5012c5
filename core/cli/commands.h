// Every subcommand's entry: one function, one file. main.cpp calls them in this order.
#pragma once

namespace rewright::cli {

class Program;

void add_campaign(Program& program);            // campaign.cpp
void add_axioms(Program& program);              // axioms.cpp
void add_experiment(Program& program);          // experiment.cpp
void add_rules(Program& program);               // rules.cpp
void add_certificates(Program& program);        // certificates.cpp
void add_graph(Program& program);               // graph.cpp
void add_operators(Program& program);           // operators.cpp
void add_optimize(Program& program);            // optimize.cpp
void add_compile(Program& program);             // compile.cpp
void add_compress(Program& program);            // compress.cpp
void add_schedule(Program& program);            // schedule.cpp
void add_schedule_measuring(Program& program);  // schedule_measure.cpp
void add_schedule_composing(Program& program);  // schedule_compose.cpp
void add_schedules(Program& program);           // schedules.cpp
void add_tune(Program& program);                // tune.cpp
void add_tune_worker(Program& program);         // tune_worker.cpp
void add_tune_model(Program& program);          // tune_model.cpp
void add_learn_data(Program& program);          // learn_data.cpp
void add_learn_fitting(Program& program);       // learn_fit.cpp
void add_learn_explaining(Program& program);    // learn_explain.cpp
void add_machine(Program& program);             // machine.cpp
void add_plugins(Program& program);             // plugins.cpp
void add_study(Program& program);               // study.cpp
void add_searches(Program& program);            // searches.cpp
void add_new(Program& program);                 // new.cpp
void add_describe(Program& program);            // describe.cpp

}  // namespace rewright::cli
