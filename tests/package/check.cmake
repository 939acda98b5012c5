# Installs what was built to a prefix of its own, builds the plugin in plugin/ against the installed package, and
# asks the installed program for its plugins: first with the new one named, then with it installed beside the others.
# Then it builds and tests the worked examples, and what `rewright new` writes, of the installed program and of the one in
# the build folder: neither project is told where Rewright lies.
#
#   cmake -D BUILD=... -D WORK=... -D COMPILER=... -D BUILD_TYPE=... -D LIBDIR=... -D CXX_FLAGS=... -D PYTHON=... -P check.cmake
cmake_minimum_required(VERSION 3.25)
set(prefix "${WORK}/a prefix")  # with a space, as users have them
set(build "${WORK}/build")
set(program "${prefix}/bin/rewright")
unset(ENV{REWRIGHT_PLUGIN_PATH})

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${output}")
  endif()
endfunction()

# The files of the plugins that `rewright ARGN plugins list` reports, in `files`.
function(list_plugins files)
  execute_process(COMMAND ${program} ${ARGN} plugins list --json
    RESULT_VARIABLE status OUTPUT_VARIABLE json ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "rewright ${ARGN} plugins list failed (${status}):\n${errors}")
  endif()
  string(JSON count LENGTH "${json}" plugins)
  set(found)
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON file GET "${json}" plugins ${i} file)
    list(APPEND found "${file}")
  endforeach()
  set(${files} "${found}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("the installation" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run("the configuration of the plugin" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/plugin -B ${build} -G Ninja
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
  "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}")
run("the build of the plugin" ${CMAKE_COMMAND} --build ${build})

list_plugins(own)
foreach(file IN LISTS own)
  cmake_path(IS_PREFIX prefix "${file}" NORMALIZE inside)
  if(NOT inside)
    message(FATAL_ERROR "the installed program loads ${file}, which is not below ${prefix}")
  endif()
endforeach()

set(plugin "${build}/rewright/operators/negate.so")
list_plugins(named --plugin ${plugin})
if(NOT plugin IN_LIST named)
  message(FATAL_ERROR "rewright --plugin ${plugin} plugins list reports only: ${named}")
endif()

run("the installation of the plugin" ${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
list_plugins(installed)
if(NOT "${prefix}/${LIBDIR}/rewright/operators/negate.so" IN_LIST installed)
  message(FATAL_ERROR "the plugin is installed beside the others, but rewright plugins list reports only: ${installed}")
endif()

# The worked examples, beside the tree that they came with.
run("the configuration of the examples" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/../../plugins/examples
  -B ${WORK}/examples -G Ninja -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_BUILD_TYPE=${BUILD_TYPE} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS} -Wall -Wextra -Wpedantic -Werror")
run("the build of the examples" ${CMAKE_COMMAND} --build ${WORK}/examples)
run("the tests of the examples" ${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/examples --output-on-failure --no-tests=error)

# What `rewright new` writes builds and passes its tests as written, for every kind.
unset(ENV{CMAKE_PREFIX_PATH})
function(configure_new kind by folder)
  run("rewright new ${kind}" ${by} new ${kind} sample_${kind} -o ${folder})
  run("the configuration of a new ${kind}" ${CMAKE_COMMAND} -S ${folder} -B ${folder}/build -G Ninja
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}")
  file(STRINGS ${folder}/build/CMakeCache.txt found REGEX "^Rewright_DIR:PATH=")
  cmake_path(GET by PARENT_PATH where)
  cmake_path(GET where PARENT_PATH where)
  string(FIND "${found}" "=${where}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "a new ${kind} that ${by} wrote builds against another Rewright: ${found}")
  endif()
endfunction()
function(test_new kind folder)
  run("the build of a new ${kind}" ${CMAKE_COMMAND} --build ${folder}/build)
  run("the tests of a new ${kind}" ${CMAKE_CTEST_COMMAND} --test-dir ${folder}/build --output-on-failure --no-tests=error)
endfunction()
foreach(kind IN ITEMS operator axioms verifier pruner search cost tuner)
  configure_new(${kind} ${program} "${WORK}/new/${kind}")
  test_new(${kind} "${WORK}/new/${kind}")
  configure_new(${kind} ${BUILD}/bin/rewright "${WORK}/new of the build/${kind}")
endforeach()
test_new(operator "${WORK}/new of the build/operator")
set(ENV{REWRIGHT_PLUGIN_PATH} "${WORK}/new of the build/operator/build/rewright")
list_plugins(by_path)
unset(ENV{REWRIGHT_PLUGIN_PATH})
if(NOT "${WORK}/new of the build/operator/build/rewright/operators/sample_operator.so" IN_LIST by_path)
  message(FATAL_ERROR "REWRIGHT_PLUGIN_PATH names the folder of a plugin, but rewright plugins list reports only: ${by_path}")
endif()

# What the tutorial says to type, with the installed program.
set(ENV{CXX} ${COMPILER})
set(ENV{CXXFLAGS} "${CXX_FLAGS}")
set(ENV{REWRIGHT_BUILD_DIR} ${prefix})
cmake_path(SET source NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)
set(ENV{REWRIGHT_SOURCE_DIR} ${source})
run("the tutorial" ${PYTHON} -B ${source}/tests/book/blocks_test.py Pages.test_console_blocks_print_what_they_say)

execute_process(COMMAND ${program} new operator sample -o ${WORK}/new/operator RESULT_VARIABLE status ERROR_VARIABLE errors)
if(NOT status EQUAL 2 OR NOT errors MATCHES "is not empty")
  message(FATAL_ERROR "rewright new writes into a folder that is not empty (${status}): ${errors}")
endif()
execute_process(COMMAND ${program} new operator Sample-1 -o ${WORK}/new/bad RESULT_VARIABLE status ERROR_VARIABLE errors)
if(NOT status EQUAL 2 OR NOT errors MATCHES "'Sample-1'" OR EXISTS ${WORK}/new/bad)
  message(FATAL_ERROR "rewright new takes the name Sample-1 (${status}): ${errors}")
endif()
