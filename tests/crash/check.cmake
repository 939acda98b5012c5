# A plugin that crashes in a campaign. An operator's crash ends the program with a sentence that names it, and what was
# saved is there: the campaign then goes on, with the same plugin in a better mood, to the same rules as without a crash. A
# verifier's crash is a sentence at the end, and costs no rule.
#
#   cmake -D PROGRAM=rewright -D PLUGIN=crashing.so -D AXIOMS=FOLDER -D WORK=DIR -P check.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/campaign.toml "[campaign]
name = \"crash\"
max_operators = 2
inputs = [{ name = \"x\", shapes = [[2, 3], [1, 2]] }, { name = \"y\", shapes = [[2, 3], [1, 2]] }]
pruners = [\"renaming\"]
verifiers = [\"nervous\", \"egraph\"]
axioms = [\"${AXIOMS}/elementwise.smt2\"]

[operators]
ewadd = {}
fragile = {}
relu = {}
")

function(run status output)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env CRASH_AT=${CRASH_AT} CRASH_BY=${CRASH_BY} ${PROGRAM} --plugin ${PLUGIN} ${ARGN}
    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE errors)
  set(${status} "${result}" PARENT_SCOPE)
  set(${output} "${out}${errors}" PARENT_SCOPE)
endfunction()

function(expect what status output wanted pattern)
  if(NOT "${status}" STREQUAL "${wanted}" OR NOT "${output}" MATCHES "${pattern}")
    message(FATAL_ERROR "${what}: exit ${status}, expected ${wanted} and '${pattern}':\n${output}")
  endif()
endfunction()

set(CRASH_AT nowhere)
set(CRASH_BY 11)
run(status output campaign run campaign.toml --store whole)
expect("a campaign without a crash" "${status}" "${output}" 0 "rules in the library +[1-9]")
run(status whole rules export whole --format text)

set(CRASH_AT operator)
run(status output campaign run campaign.toml --store operator)
expect("a crash in the operator" "${status}" "${output}" 4 "the plugin [^ ]*crashing.so crashed .segmentation fault.")
foreach(crash IN ITEMS "4;illegal instruction" "6;abort" "7;bus error" "8;arithmetic fault")
  list(GET crash 0 CRASH_BY)
  list(GET crash 1 word)
  run(status output campaign run campaign.toml --store by${CRASH_BY})
  expect("a crash by signal ${CRASH_BY}" "${status}" "${output}" 4 "the plugin [^ ]*crashing.so crashed .${word}.;")
endforeach()
# Not a plugin's: one of two processes, that waits for the other. It ends as the signal would have it.
execute_process(COMMAND sh -c "export OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2
  '${PROGRAM}' --plugin '${PLUGIN}' campaign run campaign.toml --store waits & sleep 1
  kill -SEGV $!; wait $!; echo \"ended with $?\"" WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE output ERROR_VARIABLE ignored)
expect("a crash of the program's own" "0" "${output}" 0 "^ended with 139\n$")
set(CRASH_BY 11)

set(CRASH_AT nowhere)
run(status output campaign status operator)
expect("the store after it" "${status}" "${output}" 0 "campaign crash: stopped")
run(status output campaign run campaign.toml --store operator --resume)
expect("going on after it" "${status}" "${output}" 0 "rules in the library")

set(CRASH_AT verifier)
run(status output campaign run campaign.toml --store verifier)
expect("a crash in the verifier" "${status}" "${output}" 0
  "The verifier nervous crashed over 8 goals, which it left unknown; the first is [0-9a-f]+, .*it ended its process .Segmentation fault., plugin operator.fragile. It was then put aside")

foreach(place IN ITEMS operator verifier)
  run(status rules rules export ${place} --format text)
  if(NOT rules STREQUAL whole)
    message(FATAL_ERROR "after a crash in the ${place} the rules are others:\n${rules}\nnot\n${whole}")
  endif()
endforeach()
