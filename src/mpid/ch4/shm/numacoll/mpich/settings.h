/* The variables that numbers stand for, as they hold for a communicator and a call. */

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

extern const struct nc_variable MPIDI_NUMACOLL_variables[NC_SETTING_COUNT];

#define NC_LARGEST_SLOT_OF_RULE 8192 /* bytes of a slot where FRAGMENT_SIZE is 0 */

/* What the environment or MPI_T says, brought into range. */
int MPIDI_NUMACOLL_variable(enum nc_setting setting);

/* Whether what the environment says is allowed; *text: what it says, in memory of 16 bytes if it is
 * a number. */
bool MPIDI_NUMACOLL_variable_is_right(enum nc_setting setting, const char **text, char number[16]);

/* The number a text stands for, false if the variable does not allow it; and the text of a number.
 * The text of a spec or a choice is kept and has a number of its own in this process. */
bool MPIDI_NUMACOLL_parse(enum nc_setting setting, const char *text, int *value);
void MPIDI_NUMACOLL_format(enum nc_setting setting, int value, char *text, size_t size);

/* The text of a spec or a choice, which stays. */
const char *MPIDI_NUMACOLL_text(int value);

/* The spec with that number. */
void MPIDI_NUMACOLL_level_spec(enum nc_setting setting, int value, struct nc_level_spec *spec);

/* What two processes have to compare: numbers of texts differ. */
int MPIDI_NUMACOLL_comparable(enum nc_setting setting, int value);

/* What holds for calls on comm selected by a entry (-1: by none): info key, then entry, then
 * variable. */
int MPIDI_NUMACOLL_setting(MPIR_Comm *comm, int entry, enum nc_setting setting);

/* Whether it comes from an info key of the communicator. */
bool MPIDI_NUMACOLL_setting_is_info(MPIR_Comm *comm, enum nc_setting setting);

/* Keeps a value as an info key of the communicator. */
void MPIDI_NUMACOLL_setting_set_info(MPIR_Comm *comm, enum nc_setting setting, int value);

/* All info keys of a communicator, as they are kept, to be put back if new ones turn out wrong. */
void MPIDI_NUMACOLL_settings_save_info(MPIR_Comm *comm, int kept[NC_SETTING_COUNT]);
void MPIDI_NUMACOLL_settings_restore_info(MPIR_Comm *comm, const int kept[NC_SETTING_COUNT]);

/* Parameters of entries: a new row with nothing set, a value in it, how many. -1: no memory. */
int MPIDI_NUMACOLL_csel_entry_new(void);
void MPIDI_NUMACOLL_csel_entry_set(int entry, enum nc_setting setting, int value);
int MPIDI_NUMACOLL_csel_entry_count(void);

/* Forgets entries and texts. */
void MPIDI_NUMACOLL_settings_clear(void);

#endif
