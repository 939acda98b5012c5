// The program `measure-worker`: compiles and times candidates. librewright starts it; it is of no use by hand.
#include "tune/measure_worker.h"

int main() { return rewright::tune::serve_measuring(); }
