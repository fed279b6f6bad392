/* Makes a keeper ready for another command: nothing of the ended one may reach it. */
#include <sys/prctl.h>
#include <unistd.h>

#include "io.h"
#include "keeper.h"
#include "protocol.h"
#include "title.h"

void reset_keeper(struct keeper *keeper) {
    pid_t pid = keeper->status.keeper;
    keeper->directory = -1;
    keeper->journal = (struct journal){.fd = -1};
    keeper->input = (struct input){.fd = -1};
    keeper->ending = (struct ending){0};
    keeper->status = (struct status){.keeper = pid, .exit_code = -1};
    keeper->oom_kills_before = keeper->sent_signals = 0;
    keeper->can_count_oom_kills = keeper->has_killed = keeper->has_descendants = false;
    keeper->is_exit_reported = keeper->is_close_reported = false;
    keeper->hard_deadline = keeper->spawned_due = keeper->stdin_due = NEVER;
    keeper->hard_grace_ms = 0;
    keeper->may_be_reused = false;
    init_streams(&keeper->streams, keeper->sources);
    for (int stream = 0; stream < 2; stream++) {
        keeper->journal.logs[stream] = &keeper->streams.log[stream];
        keeper->streams.log[stream].journal = &keeper->journal;
    }
}

/* A keeper that has met an error exits, and so does one whose output was released. */
static bool is_sound(const struct keeper *keeper) {
    const struct streams *streams = &keeper->streams;
    bool has_lost = streams->log[0].lost > 0 || streams->log[1].lost > 0;
    return !keeper->journal.has_failed && !has_lost && !streams->is_discarding;
}

bool is_reusable(const struct keeper *keeper) {
    bool is_over = keeper->is_close_reported && !keeper->has_descendants;
    bool may_stay = !keeper->is_leaving && !keeper->is_shutting_down && keeper->client.fd >= 0;
    return keeper->may_be_reused && is_over && may_stay && keeper->uses < KEEPER_USES_LIMIT && is_sound(keeper);
}

/* The client may already have sent the next SPAWN. When the keeper exits, the client repeats it with another one. */
static bool has_same_traits(const struct keeper *keeper) {
    struct traits now;
    read_traits(&now);
    return are_same_traits(&keeper->traits, &now);
}

void clean_keeper(struct keeper *keeper) {
    break_input(&keeper->input);
    close_streams(&keeper->streams);
    close_descriptor(&keeper->journal.fd);
    rest_control(&keeper->control);
    close_descriptor(&keeper->directory);
    forget_requests(&keeper->client);
    wipe_inbox(&keeper->client.inbox);
    reset_keeper(keeper);
    keeper->streams.has_client = true;
    /* A child that changes its account makes the memory that it shares with the keeper undumpable. The next child could
     * then not set its oom score. */
    prctl(PR_SET_DUMPABLE, 1);
    keeper->is_leaving = !has_same_traits(keeper);
    /* Last, as the title says that the keeper is clean. */
    set_title("boxkeep: spare keeper", "boxkeep-spare");
}
