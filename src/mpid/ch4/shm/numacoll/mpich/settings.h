/* The settings: the variables of cvars.yaml whose values are numbers here, and which value holds
 * for a communicator and a call. The value comes from an info key, a csel entry or the variable. */

#ifndef NUMACOLL_SETTINGS_H_INCLUDED
#define NUMACOLL_SETTINGS_H_INCLUDED

#include "mpiimpl.h"
#include "numacoll_vars.h"
#include "../core/nc_level_spec.h"
#include "../core/nc_variable.h"

enum nc_setting {
#define NC_NUMBER(NAME, name, kind, scope, low, high, unit, values) NC_VAR_##NAME,
    NC_VARIABLES(NC_NUMBER)
#undef NC_NUMBER
        NC_SETTING_COUNT
};

/* Kind, range and names of each setting, from cvars.yaml. */
extern const struct nc_variable MPIDI_NUMACOLL_variables[NC_SETTING_COUNT];

/* The value of the variable as the environment or MPI_T set it, brought into its range. */
int MPIDI_NUMACOLL_variable(enum nc_setting setting);

/* Whether the value of the variable is allowed. *text: the value as text; if it is a number, in
 * `number`. */
bool MPIDI_NUMACOLL_variable_is_right(enum nc_setting setting, const char **text, char number[16]);

/* Converts the text of a setting to its number (false: the text is not allowed) and back. Texts of
 * kinds that are not numbers (level specs, links, choices) are kept, and their number is their
 * place in this process's list. */
bool MPIDI_NUMACOLL_parse(enum nc_setting setting, const char *text, int *value);
void MPIDI_NUMACOLL_format(enum nc_setting setting, int value, char *text, size_t size);

/* The text with that number, valid until settings_clear. */
const char *MPIDI_NUMACOLL_text(int value);

/* Reads the level spec with that number. */
void MPIDI_NUMACOLL_level_spec(enum nc_setting setting, int value, struct nc_level_spec *spec);

/* The value in a form that processes can compare: for a text its checksum, because the same text
 * may have another number in another process. */
int MPIDI_NUMACOLL_comparable(enum nc_setting setting, int value);

/* The value that holds for calls on comm selected by a csel entry (-1: none): the info key if there
 * is one, else the entry's parameter, else the variable. */
int MPIDI_NUMACOLL_setting(MPIR_Comm *comm, int entry, enum nc_setting setting);

/* Whether Reduce and Allreduce on comm combine in the order of ranks. */
static inline bool MPIDI_NUMACOLL_in_rank_order(MPIR_Comm *comm)
{
    return MPIDI_NUMACOLL_setting(comm, -1, NC_VAR_REDUCE_ORDER) ==
           MPIR_CVAR_NUMACOLL_REDUCE_ORDER_ranks;
}

/* Whether a setting says what a call does, and not how the segment is: its info key counts from the
 * next call on, and the ranks of all nodes must have it alike, as they send each other messages by
 * it. These are the settings that an entry may have, and REDUCE_ORDER. */
static inline bool MPIDI_NUMACOLL_is_of_calls(enum nc_setting setting)
{
    return MPIDI_NUMACOLL_variables[setting].scope == NC_PER_CALL || setting == NC_VAR_REDUCE_ORDER;
}

/* Whether the value comes from an info key of the communicator. */
bool MPIDI_NUMACOLL_setting_is_info(MPIR_Comm *comm, enum nc_setting setting);

/* Keeps a value as an info key of the communicator; once settings_fix says that the segment is
 * made, only one that is of calls. */
void MPIDI_NUMACOLL_setting_set_info(MPIR_Comm *comm, enum nc_setting setting, int value);
void MPIDI_NUMACOLL_settings_fix(MPIR_Comm *comm);

/* Whether MPICH alone uses the communicator: that of a window, or the local communicator of an
 * intercommunicator. The program makes no call on it. */
bool MPIDI_NUMACOLL_is_inner_comm(MPIR_Comm *comm);

/* Saves all info keys of a communicator, and puts them back if new ones turn out wrong. */
void MPIDI_NUMACOLL_settings_save_info(MPIR_Comm *comm, int kept[NC_SETTING_COUNT]);
void MPIDI_NUMACOLL_settings_restore_info(MPIR_Comm *comm, const int kept[NC_SETTING_COUNT]);

/* The parameters of csel entries: adds an entry without parameters and returns its number (-1: no
 * memory); sets a parameter of an entry; says how many entries there are. */
int MPIDI_NUMACOLL_csel_entry_new(void);
void MPIDI_NUMACOLL_csel_entry_set(int entry, enum nc_setting setting, int value);
int MPIDI_NUMACOLL_csel_entry_count(void);

/* Frees all entries and texts, at MPI_Finalize. */
void MPIDI_NUMACOLL_settings_clear(void);

#endif
