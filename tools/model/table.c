/* Tables, and their output as text, CSV and JSON. See model.h. */

#include <err.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "model.h"

enum { MOST_COLUMNS = 32, MOST_FACTS = 32 };

struct cell {
    const char *text; /* NULL: the number */
    double number;    /* NAN: there is none */
};

struct fact {
    const char *name;
    struct cell value;
};

struct table {
    const char *command;
    struct fact fact[MOST_FACTS];
    const char *column[MOST_COLUMNS];
    bool curve[MOST_COLUMNS];
    int facts, columns;
    struct cell *cell; /* [cells] row by row */
    size_t cells, room;
    struct table_picture picture;
};

struct table *table_make(const char *command)
{
    struct table *t = allocate(sizeof *t);

    *t = (struct table){.command = command};
    return t;
}

/* ---- filling ---- */

static void add_fact(struct table *t, const char *name, struct cell value)
{
    if (t->facts < MOST_FACTS)
        t->fact[t->facts++] = (struct fact){name, value};
}

void table_fact(struct table *t, const char *name, const char *format, ...)
{
    va_list arguments;
    char *text;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        errx(EXIT_FAILURE, "no memory");
    add_fact(t, name, (struct cell){text, NAN});
}

void table_fact_number(struct table *t, const char *name, double value)
{
    add_fact(t, name, (struct cell){NULL, value});
}

void table_column(struct table *t, const char *name, bool curve)
{
    t->curve[t->columns] = curve;
    t->column[t->columns++] = name;
}

static void add_cell(struct table *t, const char *text, double number)
{
    if (t->cells == t->room) {
        t->room = t->room ? 2 * t->room : 256;
        t->cell = realloc(t->cell, t->room * sizeof *t->cell);
        if (!t->cell)
            errx(EXIT_FAILURE, "no memory");
    }
    t->cell[t->cells++] = (struct cell){text, number};
}

static const char *copy_of(const char *text)
{
    return strcpy(allocate(strlen(text) + 1), text);
}

void table_text(struct table *t, const char *text)
{
    add_cell(t, copy_of(text), NAN);
}

void table_number(struct table *t, double value)
{
    add_cell(t, NULL, value);
}

void table_labelled(struct table *t, double value, const char *label)
{
    add_cell(t, copy_of(label), value);
}

void table_draw_as(struct table *t, const struct table_picture *picture)
{
    t->picture = *picture;
}

/* ---- reading ---- */

int table_rows(const struct table *t)
{
    return t->columns ? (int) (t->cells / (size_t) t->columns) : 0;
}

static const struct cell *cell_at(const struct table *t, int row, int column)
{
    return &t->cell[(size_t) row * (size_t) t->columns + (size_t) column];
}

const struct table_picture *table_picture(const struct table *t)
{
    return &t->picture;
}

int table_columns(const struct table *t)
{
    return t->columns;
}

const char *table_name(const struct table *t, int column)
{
    return t->column[column];
}

bool table_is_curve(const struct table *t, int column)
{
    return t->curve[column];
}

double table_value(const struct table *t, int row, int column)
{
    return cell_at(t, row, column)->number;
}

const char *table_label(const struct table *t, int row, int column)
{
    const char *text = cell_at(t, row, column)->text;

    return text ? text : "";
}

void table_facts(const struct table *t, char *text, size_t size)
{
    enum { SHORT = 60 };

    *text = 0;
    for (int i = 0; i < t->facts; i++) {
        const struct cell *c = &t->fact[i].value;
        char value[64];
        int length = c->text ? snprintf(value, sizeof value, "%s", c->text)
                             : snprintf(value, sizeof value, "%.9g", c->number);

        if (length < SHORT && strlen(text) + (size_t) length + strlen(t->fact[i].name) + 5 < size)
            snprintf(text + strlen(text), size - strlen(text), "%s%s: %s", *text ? ", " : "",
                     t->fact[i].name, value);
    }
}

/* ---- text ---- */

static void write_number(double x)
{
    if (isnan(x))
        return;
    printf(x == floor(x) && fabs(x) < 1e15 ? "%.0f" : "%.6g", x);
}

static int width_of(const struct cell *c)
{
    char text[64];

    if (c->text)
        return (int) strlen(c->text);
    if (isnan(c->number))
        return 1;
    return snprintf(text, sizeof text,
                    c->number == floor(c->number) && fabs(c->number) < 1e15 ? "%.0f" : "%.6g",
                    c->number);
}

static void write_padded(const struct cell *c, int width, bool last)
{
    if (c->text) {
        printf("%-*s", last ? 0 : width, c->text);
        return;
    }
    printf("%*s", width - width_of(c), "");
    if (isnan(c->number))
        putchar('-');
    else
        write_number(c->number);
}

/* Texts begin at the left of their column, numbers end at the right. */
static void write_rows(const struct table *t)
{
    int width[MOST_COLUMNS], rows = table_rows(t);

    for (int i = 0; i < t->columns; i++) {
        width[i] = (int) strlen(t->column[i]);
        for (int r = 0; r < rows; r++) {
            int w = width_of(cell_at(t, r, i));
            width[i] = w > width[i] ? w : width[i];
        }
    }
    for (int i = 0; i < t->columns; i++) {
        bool left = rows && cell_at(t, 0, i)->text, last = i == t->columns - 1;
        printf("%s%*s", i ? "  " : "", left ? (last ? 0 : -width[i]) : width[i], t->column[i]);
    }
    putchar('\n');
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < t->columns; i++) {
            fputs(i ? "  " : "", stdout);
            write_padded(cell_at(t, r, i), width[i], i == t->columns - 1);
        }
        putchar('\n');
    }
}

static void write_text(const struct table *t)
{
    for (int i = 0; i < t->facts; i++) {
        printf("%s: ", t->fact[i].name);
        if (t->fact[i].value.text)
            fputs(t->fact[i].value.text, stdout);
        else
            write_number(t->fact[i].value.number);
        putchar('\n');
    }
    if (t->facts && t->columns)
        putchar('\n');
    if (t->columns)
        write_rows(t);
}

/* ---- CSV ---- */

static void write_quoted(const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (const char *c = text; *c; c++)
        fputs(*c == '"' ? "\"\"" : (char[]){*c, 0}, stdout);
    putchar('"');
}

static void write_csv(const struct table *t)
{
    for (int i = 0; i < t->columns; i++) {
        fputs(i ? "," : "", stdout);
        write_quoted(t->column[i]);
    }
    putchar('\n');
    for (int r = 0; r < table_rows(t); r++) {
        for (int i = 0; i < t->columns; i++) {
            const struct cell *c = cell_at(t, r, i);
            fputs(i ? "," : "", stdout);
            if (!isnan(c->number))
                printf("%.9g", c->number);
            else
                write_quoted(table_label(t, r, i));
        }
        putchar('\n');
    }
}

/* ---- JSON ---- */

static json_object *value_of(const struct cell *c)
{
    char text[64];

    if (isnan(c->number))
        return c->text ? json_object_new_string(c->text) : NULL;
    if (c->number == floor(c->number) && fabs(c->number) < 1e15)
        return json_object_new_int64((int64_t) c->number);
    snprintf(text, sizeof text, "%.9g", c->number);
    return json_object_new_double_s(c->number, text);
}

static void write_json(const struct table *t)
{
    json_object *object = json_object_new_object(), *rows = json_object_new_array();

    json_object_object_add(object, "command", json_object_new_string(t->command));
    for (int i = 0; i < t->facts; i++)
        json_object_object_add(object, t->fact[i].name, value_of(&t->fact[i].value));
    for (int r = 0; r < table_rows(t); r++) {
        json_object *row = json_object_new_object();
        for (int i = 0; i < t->columns; i++)
            json_object_object_add(row, t->column[i], value_of(cell_at(t, r, i)));
        json_object_array_add(rows, row);
    }
    json_object_object_add(object, "rows", rows);
    puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(object);
}

void table_write(const struct table *t, enum output output)
{
    static void (*const write[])(const struct table *) = {
        [OUTPUT_TEXT] = write_text, [OUTPUT_CSV] = write_csv, [OUTPUT_JSON] = write_json};

    write[output](t);
}
