/* Joint copies: a message out of shared memory (struct nc_direct) into a buffer that is shared,
 * too, which its writer and its reader copy together, each of them the pieces that it comes to
 * first. nc_bcast, nc_scatter and nc_gather call it; no MPI. PROTOCOLS.md, section 3.8.
 *
 * The reader of the message
 *   nc_joint_place         says where the message goes, if each side reaches the other's buffer
 *   nc_joint_receive       offers, copies, and awaits the writer's pieces; or, one by one,
 *   nc_joint_offer         announces where the message is to go
 *   nc_joint_copy          takes a piece and copies it, until all are taken
 *   nc_joint_is_there      says whether the writer's pieces are there; nc_joint_rest: what to await
 * The writer
 *   nc_joint_begin         notes a message, before it announces it
 *   nc_joint_help_all      when it has announced it, copies with its readers; or, with one reader
 *                          whose offer has come,
 *   nc_joint_help          copies pieces, and announces each of them
 */

#ifndef NC_JOINT_H_INCLUDED
#define NC_JOINT_H_INCLUDED

#include "nc_transfer.h"

#define NC_PIECE ((size_t) 32768) /* bytes of a piece, but for the last one */

/* What a reader posts in the payload of a control slot that it has taken; header.total is the bytes
 * that the buffer takes. */
struct nc_offer {
    uint64_t place;           /* of the buffer, see nc_transfer_place; not 0 */
    struct nc_atomic claimed; /* so many pieces are taken, or more. Writers: both */
};

/* One message, as its writer or its reader sees it. Private to a rank. */
struct nc_joint {
    /* where the message is announced: there the writer also announces its pieces, for this reader
     * alone */
    struct nc_control *told;
    struct nc_offer *offer; /* NULL: the reader has not made one */
    const char *from;
    char *to; /* NULL: the writer has not claimed a piece yet, and has not looked */
    size_t bytes;
    int other;     /* the rank of the other side */
    int how;       /* bits of nc_copy_how for the copies */
    uint64_t mine; /* pieces that this rank has copied */
    bool taken;    /* all pieces are taken */
};

/* Whether the root of a scatter or gather copies its own block, of one stream into another, in the
 * operation, while the other ranks are at theirs; where it does not, its caller does. */
bool nc_joint_takes_own(const struct nc_transfer *transfer, const struct nc_stream *from,
                        const struct nc_stream *to);

/* Root: copies a piece of its own block. False: all is copied. *error: 0, or the first error. */
bool nc_joint_copy_own(const struct nc_transfer *transfer, struct nc_stream *from,
                       struct nc_stream *to, int *error);

/* Reader: the place where a message goes that it has met, if both are in shared memory; 0: they are
 * not. */
uint64_t nc_joint_place(const struct nc_transfer *transfer, const struct nc_flow *flow);

/* Reader: offers, in a control slot that it has taken for the writer, to copy together what of the
 * message fits its stream, which is at `place`, and announces that (R1). It counts as received. */
void nc_joint_offer(const struct nc_transfer *transfer, struct nc_joint *joint,
                    const struct nc_flow *flow, uint64_t place, struct nc_control *control);

/* Either side: takes a piece and copies it. False: all are taken. */
bool nc_joint_copy(const struct nc_transfer *transfer, struct nc_joint *joint);

/* Reader, when all pieces are taken: whether those of the writer are announced (acquire of R1).
 * nc_joint_rest: what to wait for until they are. */
bool nc_joint_is_there(const struct nc_transfer *transfer, const struct nc_joint *joint);
struct nc_awaited nc_joint_rest(const struct nc_transfer *transfer, const struct nc_joint *joint);

/* Reader of one message, of `writer`: offers in its send control slot, copies, and awaits the
 * writer's pieces. False: it is not possible, or the slot is not free, for which to wait is not
 * worth it; then it is to be copied as any message. */
bool nc_joint_receive(const struct nc_transfer *transfer, const struct nc_flow *flow, int writer);

/* Writer: notes a message for one reader, which it is about to announce in `told`. False: it is not
 * in shared memory, there is nothing to copy together. */
bool nc_joint_begin(struct nc_joint *joint, const struct nc_origin *message, int reader,
                    struct nc_control *told);

/* Writer: takes the offer that the reader has announced in `control`; copies pieces until all are
 * taken, and announces each of them (R1). */
void nc_joint_help(const struct nc_transfer *transfer, struct nc_joint *joint,
                   struct nc_control *control);

/* Writer of n messages that nc_joint_begin has noted, to different readers, who make their offers
 * in their send control slots: does so with each of them until all of its pieces are taken or it
 * has ended the operation without an offer. Changes the array. */
void nc_joint_help_all(const struct nc_transfer *transfer, struct nc_joint *joint, int n);

#endif
