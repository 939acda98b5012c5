// The program `verifier-worker`: a verifier in a process of its own. librewright starts it; it is of no use by hand.
#include "verify/worker.h"

int main() { return rewright::serve_verifier(); }
