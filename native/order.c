/* The index of the arrival order across stdout and stderr. */
#include "order.h"

#include <fcntl.h>
#include <unistd.h>

#include "frame.h"
#include "io.h"
#include "protocol.h"

#define ENTRY_BYTES 8u

/* Old entries become a hole, which reads as zero: "the first stream up to 0", an entry without effect. */
static void give_up_old_entries(struct order *order) {
    uint64_t keep_from = order->written - ORDER_LIMIT_BYTES / 2;
    int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    if (fallocate(order->fd, mode, (off_t)order->punched, (off_t)(keep_from - order->punched)) != 0) {
        keep_from = order->written;
        if (ftruncate(order->fd, 0) != 0) return; /* tried again at the next entry */
    }
    order->punched = keep_from;
}

/* An entry that does not fit on the disk is omitted. The runs around it then read as one longer run. */
static void append_entry(struct order *order, uint64_t end, int stream) {
    uint8_t entry[ENTRY_BYTES];
    struct field_writer writer = write_fields(entry, sizeof entry);
    write_u64(&writer, end << 1 | (uint64_t)stream);
    if (pwrite(order->fd, entry, sizeof entry, (off_t)order->written) != (ssize_t)sizeof entry) return;
    order->written += ENTRY_BYTES;
    if (order->written - order->punched >= ORDER_LIMIT_BYTES) give_up_old_entries(order);
}

void note_run(struct order *order, int directory, int stream, uint64_t end_of_other) {
    int before = order->current;
    order->current = stream;
    if (before < 0 || before == stream) return;
    if (order->fd < 0) order->fd = openat(directory, "order", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (order->fd >= 0) append_entry(order, end_of_other, before);
}

void release_order(struct order *order, int directory) {
    close_descriptor(&order->fd);
    unlinkat(directory, "order", 0);
}
