// Every subcommand's entry: one function, one file. main.cpp calls them in this order.
#pragma once

namespace rewright::cli {

class Program;

void add_operators(Program& program);  // operators.cpp
void add_plugins(Program& program);    // plugins.cpp

}  // namespace rewright::cli
