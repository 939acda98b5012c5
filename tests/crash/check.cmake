# A plugin that crashes in a campaign: the sentence names it, and what was saved is there. The campaign then goes on, with
# the same plugin in a better mood, to the same rules as without a crash.
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
  execute_process(COMMAND ${CMAKE_COMMAND} -E env CRASH_AT=${CRASH_AT} ${PROGRAM} --plugin ${PLUGIN} ${ARGN}
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
run(status output campaign run campaign.toml --store whole)
expect("a campaign without a crash" "${status}" "${output}" 0 "rules in the library +[1-9]")
run(status whole rules export whole --format text)

foreach(CRASH_AT IN ITEMS operator verifier)
  run(status output campaign run campaign.toml --store ${CRASH_AT})
  expect("a crash in the ${CRASH_AT}" "${status}" "${output}" 4 "the plugin [^ ]*crashing.so crashed .segmentation fault.")
  set(place ${CRASH_AT})
  set(CRASH_AT nowhere)
  run(status output campaign status ${place})
  expect("the store after it" "${status}" "${output}" 0 "campaign crash: stopped")
  run(status output campaign run campaign.toml --store ${place} --resume)
  expect("going on after it" "${status}" "${output}" 0 "rules in the library")
  run(status rules rules export ${place} --format text)
  if(NOT rules STREQUAL whole)
    message(FATAL_ERROR "after a crash in the ${place} the rules are others:\n${rules}\nnot\n${whole}")
  endif()
endforeach()
