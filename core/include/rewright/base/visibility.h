// Symbol visibility: everything is hidden but what carries REWRIGHT_API.
#pragma once

#define REWRIGHT_API __attribute__((visibility("default")))
