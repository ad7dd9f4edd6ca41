/* Leads the ends of a tool's process to tool.c; included before a tool's file (-include). */

#ifndef TOOL_RENAMED_H_INCLUDED
#define TOOL_RENAMED_H_INCLUDED

#define _GNU_SOURCE
#define NUMACOLL_VERSION "of a fuzz target"
#include <argp.h>
#include <err.h>

#include "tool.h"

#define errx         tool_errx
#define err          tool_err
#define argp_failure tool_failure
#define argp_parse   tool_argp_parse

#endif
