/* Parses the options that choose algorithms: --algorithms, --sweep, --floor, --memcpy,
 * --streamed and --baseline. */

#include "options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *lower(char *text)
{
    for (char *c = text; *c; c++)
        *c = (char) tolower((unsigned char) *c);
    return text;
}

/* Parses NAME=VALUE. *name and *value point into text. */
static bool parse_assignment(char *text, const char **name, char **value)
{
    *value = strchr(text, '=');
    if (!*value || *value == text || !(*value)[1])
        return false;
    *(*value)++ = 0;
    *name = lower(text);
    return true;
}

static bool add_parameter(struct algorithm *a, const char *option, const char *name,
                          const char *value)
{
    if (a->parameter_count == MAX_PARAMETERS)
        return false;
    a->parameters[a->parameter_count++] = (struct parameter){option, name, value};
    return true;
}

/* ---- where a value ends ---- */

/* A value in braces may have any colons and commas: levels={numa,node}. Characters up to one of
 * `ends` that is not in braces. */
static size_t span(const char *text, const char *ends)
{
    bool inside = false;
    size_t n = 0;

    for (; text[n] && (inside || !strchr(ends, text[n])); n++)
        inside = text[n] == '{' || (inside && text[n] != '}');
    return n;
}

/* The value without its braces. */
static char *unbraced(struct argp_state *state, const char *option, char *value)
{
    size_t n = strlen(value);

    if (*value == '{' && value[n - 1] == '}') {
        value[n - 1] = 0;
        value++;
    }
    if (!*value || strpbrk(value, "{}"))
        refuse(state, "%s: %s: must be a value, or one with commas in braces: {A,B}", option,
               value);
    return value;
}

/* A level spec, LEVEL:ALGORITHM,LEVEL:ALGORITHM, has colons and commas of its own. So a colon ends
 * a parameter only if VAR= follows, and a comma after a parameter ends an algorithm unless
 * LEVEL:ALGORITHM follows. */

static bool is_assignment(const char *text)
{
    return text[strcspn(text, ":=,")] == '=';
}

static bool is_level(const char *text)
{
    size_t n = strcspn(text, ":,");

    return text[n] == ':' && !is_assignment(text + n + 1);
}

static size_t parameter_length(const char *text)
{
    size_t n = span(text, ":");

    while (text[n] && !is_assignment(text + n + 1))
        n += 1 + span(text + n + 1, ":");
    return n;
}

static size_t algorithm_length(const char *text)
{
    size_t n = span(text, ",");

    while (text[n] && memchr(text, '=', n) && is_level(text + n + 1))
        n += 1 + span(text + n + 1, ",");
    return n;
}

/* Parses NAME:VAR=VALUE:VAR=VALUE. *a points into `item` and into copies, which are never freed. */
static void parse_algorithm(struct argp_state *state, struct algorithm *a, const char *item)
{
    const char *name, *at = item + strcspn(item, ":");

    *a = (struct algorithm){.label = item, .name = strndup(item, (size_t) (at - item))};
    if (at == item)
        refuse(state, "--algorithms=%s: must be NAME or NAME:VAR=VALUE:VAR=VALUE", item);
    for (at += strspn(at, ":"); *at; at += strspn(at, ":")) {
        size_t n = parameter_length(at);
        char *p = strndup(at, n), *value;
        if (!parse_assignment(p, &name, &value))
            refuse(state, "--algorithms=%s: %s must be VAR=VALUE", item, p);
        value = unbraced(state, "--algorithms", value);
        if (!add_parameter(a, "--algorithms", name, value))
            refuse(state, "--algorithms=%s: more than %d parameters", item, MAX_PARAMETERS);
        at += n;
    }
}

void algorithms_parse(struct argp_state *state, struct options *o, const char *text)
{
    size_t n;

    o->algorithm_count = 0;
    for (const char *item = text + strspn(text, ","); *item; item += n + strspn(item + n, ",")) {
        n = algorithm_length(item);
        if (o->algorithm_count == MAX_ALGORITHMS)
            refuse(state, "--algorithms=%s: more than %d", text, MAX_ALGORITHMS);
        parse_algorithm(state, &o->algorithms[o->algorithm_count++], strndup(item, n));
    }
    if (o->algorithm_count == 0)
        refuse(state, "--algorithms=%s: must be at least one name", text);
}

bool algorithm_is_numacoll(const struct algorithm *a)
{
    return !strcmp(a->name, "numacoll");
}

int algorithms_of_numacoll(const struct options *o)
{
    int n = 0;

    for (int a = 0; a < o->algorithm_count; a++)
        n += algorithm_is_numacoll(&o->algorithms[a]);
    return n;
}

/* ---- sweeps ---- */

void sweep_parse(struct argp_state *state, struct options *o, const char *text)
{
    struct sweep *s = &o->sweeps[o->sweep_count];
    char *values;
    size_t n;

    if (o->sweep_count++ == MAX_SWEEPS)
        refuse(state, "--sweep=%s: more than %d sweeps", text, MAX_SWEEPS);
    if (!parse_assignment(strdup(text), &s->variable, &values))
        refuse(state, "--sweep=%s: must be VAR=V1,V2", text);
    for (char *v = values + strspn(values, ","); *v; v += n + strspn(v + n, ",")) {
        n = span(v, ",");
        if (s->value_count == MAX_ALGORITHMS)
            refuse(state, "--sweep=%s: more than %d values", text, MAX_ALGORITHMS);
        s->values[s->value_count++] = strndup(v, n);
    }
    if (s->value_count == 0)
        refuse(state, "--sweep=%s: must be VAR=V1,V2", text);
}

static struct algorithm with_value(struct argp_state *state, const struct algorithm *a,
                                   const struct sweep *s, int i)
{
    struct algorithm with = *a;
    const char *value = unbraced(state, "--sweep", strdup(s->values[i]));
    char *label;

    if (asprintf(&label, "%s:%s=%s", a->label, s->variable, s->values[i]) < 0 ||
        !add_parameter(&with, "--sweep", s->variable, value))
        refuse(state, "--sweep=%s: %s has %d parameters already", s->variable, a->label,
               MAX_PARAMETERS);
    with.label = label;
    return with;
}

void sweep_apply(struct argp_state *state, struct options *o, const struct sweep *s)
{
    struct algorithm before[MAX_ALGORITHMS];
    int n = o->algorithm_count;

    memcpy(before, o->algorithms, sizeof before);
    o->algorithm_count = 0;
    for (int a = 0; a < n; a++) {
        int copies = algorithm_is_numacoll(&before[a]) ? s->value_count : 1;
        if (o->algorithm_count + copies > MAX_ALGORITHMS)
            refuse(state, "--sweep=%s: makes more than %d algorithms", s->variable, MAX_ALGORITHMS);
        for (int i = 0; i < copies; i++)
            o->algorithms[o->algorithm_count++] = algorithm_is_numacoll(&before[a])
                                                      ? with_value(state, &before[a], s, i)
                                                      : before[a];
    }
    for (int a = 0; a < o->algorithm_count; a++) {
        if (algorithm_is_numacoll(&o->algorithms[a]))
            return;
    }
    refuse(state, "--sweep=%s: needs numacoll among --algorithms", s->variable);
}

/* ---- copies in the place of an algorithm, and the baseline ---- */

void copies_add(struct argp_state *state, struct options *o, const char *option, enum kind kind)
{
    for (int i = 0; i < o->collective_count; i++) {
        if (!floor_of(o->collectives[i]->name))
            refuse(state, "--%s: %s copies nothing", option, o->collectives[i]->name);
    }
    if (o->algorithm_count == MAX_ALGORITHMS)
        refuse(state, "--%s: must be at most %d algorithms without it", option, MAX_ALGORITHMS - 1);
    if (o->counts != COUNTS_EVEN)
        refuse(state, "--%s: must be without --counts=%s", option, counts_names[o->counts]);
    o->algorithms[o->algorithm_count++] = (struct algorithm){
        .label = option, .name = "auto", .kind = kind};
}

void baseline_find(struct argp_state *state, struct options *o)
{
    if (!o->baseline_name)
        return;
    for (o->baseline = 0; o->baseline < o->algorithm_count; o->baseline++) {
        if (!strcmp(o->algorithms[o->baseline].label, o->baseline_name))
            return;
    }
    refuse(state, "--baseline=%s: must be one of the algorithms as it is shown, such as %s",
           o->baseline_name, o->algorithms[o->algorithm_count - 1].label);
}
