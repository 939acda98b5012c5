# What a Debian package must hold and depend on.
#
#   cmake -D DEB=FILE.deb [-D BUILD=DIR] -P deb.cmake      with BUILD, it is made there first
cmake_minimum_required(VERSION 3.25)
if(BUILD)
  file(GLOB old ${BUILD}/rewright_*.deb)
  if(old)
    file(REMOVE ${old})
  endif()
  execute_process(COMMAND ${CMAKE_CPACK_COMMAND} -G DEB WORKING_DIRECTORY ${BUILD} RESULT_VARIABLE status
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  file(GLOB DEB ${BUILD}/rewright_*.deb)
  if(NOT status EQUAL 0 OR NOT DEB)
    message(FATAL_ERROR "cpack wrote no package (${status}):\n${output}")
  endif()
endif()
execute_process(COMMAND dpkg-deb --field ${DEB} Depends OUTPUT_VARIABLE depends COMMAND_ERROR_IS_FATAL ANY)
foreach(library IN ITEMS libc6 libstdc++6 libfmt9 libprotobuf libonnx libsqlite3-0 libssl3 libtbb12 libz3-4 libdnnl2)
  string(FIND "${depends}" "${library}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "the package does not depend on ${library}, but on: ${depends}")
  endif()
endforeach()
execute_process(COMMAND dpkg-deb --contents ${DEB} OUTPUT_VARIABLE contents COMMAND_ERROR_IS_FATAL ANY)
foreach(file IN ITEMS
    bin/rewright lib/librewright.so.0 lib/rewright/operators/matmul.so lib/rewright/searches/backtracking.so
    lib/rewright/verifiers/verifier-worker
    include/rewright/operator/operator.h lib/cmake/Rewright/RewrightConfig.cmake
    share/rewright/axioms/linear_algebra.smt2 share/rewright/experiments/library/library.rules
    share/rewright/experiments/quickstart/campaign.toml share/rewright/experiments/results/matmap/results.jsonl
    share/rewright/models/quickstart.onnx
    share/rewright/plugins/templates/operator/README.md share/rewright/plugins/examples/energy.cpp
    share/man/man1/rewright.1 share/man/man1/rewright-campaign-run.1
    share/bash-completion/completions/rewright share/zsh/vendor-completions/_rewright)
  string(FIND "${contents}" "./usr/${file}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "the package does not hold /usr/${file}")
  endif()
endforeach()
# scripts/package makes the book; a test of cpack alone has it where it was made before.
string(FIND "${contents}" "./usr/share/doc/rewright/book/plugins/TUTORIAL.html" book)
if(book EQUAL -1 AND NOT BUILD)
  message(FATAL_ERROR "the package does not hold the book, /usr/share/doc/rewright/book")
endif()
if(contents MATCHES "libonnxruntime" AND NOT contents MATCHES "doc/rewright/ONNXRUNTIME-LICENCE")
  message(FATAL_ERROR "the package holds ONNX Runtime without its licence")
endif()
if(contents MATCHES "_source\\.py|\\./usr/local|/home/")
  message(FATAL_ERROR "the package holds what belongs to the machine that it was built on: ${CMAKE_MATCH_0}")
endif()
