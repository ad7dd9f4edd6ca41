/* Messages between nodes, sent by their leaders on the communicator itself. */

#ifndef NUMACOLL_ACROSS_H_INCLUDED
#define NUMACOLL_ACROSS_H_INCLUDED

#include "../mpich/blocks.h"

/* Begins a message to another node, and counts it. */
int MPIDI_NUMACOLL_send(struct MPIDI_NUMACOLL_comm *state, const void *from, size_t bytes, int to,
                        int tag, MPIR_Comm *comm, NC_ERRFLAG_T errflag, MPIR_Request **request);

/* A row of messages between two ranks, all one way, two of them under way at a time. */
struct nc_channel {
    struct MPIDI_NUMACOLL_comm *state;
    MPIR_Comm *comm;
    int peer, tag;
    NC_ERRFLAG_T errflag;
    char *const *buffer; /* two */
    size_t bytes;        /* of a buffer, and so of a message at most */
    MPIR_Request *request[2];
    uint64_t begun, ended; /* messages */
    int mpi_errno;         /* the first error */
};

/* What a collective with a root moves between the root and the leader of another node: in each
 * message a window of the block of every rank of that node, in the first one the lengths of the
 * blocks before it. */
struct nc_freight {
    struct nc_channel channel;
    int ranks;              /* of the node */
    size_t part;            /* bytes of a window at most */
    uint64_t *length;       /* [ranks] bytes of the blocks */
    uint64_t round, rounds; /* this message, and all */
};

void MPIDI_NUMACOLL_freight_open(struct nc_freight *freight, struct MPIDI_NUMACOLL_comm *state,
                                 int node, MPIR_Comm *comm, int peer, int tag,
                                 NC_ERRFLAG_T errflag);

/* Once freight->length is filled, where it does not come from a message: how many messages there
 * are. */
void MPIDI_NUMACOLL_freight_count(struct nc_freight *freight);

/* Bytes of a rank's block in this message. */
size_t MPIDI_NUMACOLL_freight_window(const struct nc_freight *freight, int rank);

/* Sender, once they are counted: where the windows go, and, when they are there, off. */
char *MPIDI_NUMACOLL_freight_load(struct nc_freight *freight);
void MPIDI_NUMACOLL_freight_send(struct nc_freight *freight, const char *end);

/* Receiver: the windows; from the first message also freight->length. After an error all lengths
 * are 0. */
char *MPIDI_NUMACOLL_freight_receive(struct nc_freight *freight);

/* The next message, false after the last. */
static inline bool MPIDI_NUMACOLL_freight_next(struct nc_freight *f)
{
    return ++f->round < f->rounds;
}

/* When all is sent. The first error of all. */
int MPIDI_NUMACOLL_freight_close(struct nc_freight *freight);

/* Streams of the blocks of a node's ranks, in the hierarchy's memory. */
struct nc_stream *MPIDI_NUMACOLL_node_streams(const struct nc_hierarchy *h,
                                              const struct nc_blocks *blocks, int node);

#endif
