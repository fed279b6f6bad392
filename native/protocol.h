/* Every number and size of the protocol in docs/protocols/keeper.md, and nothing else. */
#ifndef BOXKEEP_PROTOCOL_H
#define BOXKEEP_PROTOCOL_H

/* The version that init reports to the daemon. An older daemon accepts this init and its newer keepers. */
#define INIT_VERSION 3
#define PROTOCOL_VERSION 5
/* The version that a keeper reports and obeys. A build for tests may use an older version. */
#ifndef KEEPER_VERSION
#define KEEPER_VERSION PROTOCOL_VERSION
#endif

#define FRAME_HEADER_BYTES 8u
#define FRAME_LIMIT_BYTES (256u * 1024u)
#define SPAWN_LIMIT_BYTES (8u * 1024u * 1024u)

/* The descriptor on which the daemon talks with init. */
#define DAEMON_CHANNEL 3

enum frame_type {
    FRAME_BOOT = 1,
    FRAME_LISTEN = 2,
    FRAME_LISTENING = 3,
    FRAME_READY = 4,
    FRAME_UPGRADE = 5,
    FRAME_UPGRADED = 6,
    FRAME_REFUSED = 7,
    FRAME_STANDBY = 8,
    FRAME_HANDOVER = 9,
    FRAME_HANDED = 10,
    FRAME_TAKE = 11,
    FRAME_SUCCEEDED = 12,
    FRAME_GO_ON = 13,
    FRAME_STOP = 14,
    FRAME_STOPPING = 15,

    FRAME_SPAWN = 16,
    FRAME_STDIN = 17,
    FRAME_EOF = 18,
    FRAME_SIGNAL = 19,
    FRAME_TERMINATE = 20,
    FRAME_RESIZE = 21,
    FRAME_PAUSE = 22,
    FRAME_RESUME = 23,
    FRAME_WATCH = 24,
    FRAME_TREE = 25,
    FRAME_RELEASE = 26,
    FRAME_CAP = 27,
    FRAME_FOLLOW = 28,

    FRAME_STATUS = 32,
    FRAME_SPAWNED = 33,
    FRAME_FAILED = 34,
    FRAME_DATA = 35,
    FRAME_EXITED = 36,
    FRAME_CLOSED = 37,
    FRAME_STDIN_STATE = 38,
    FRAME_SIGNALLED = 39,
    FRAME_TREE_STATE = 40,
    FRAME_OUTPUT = 41,
};

enum boot_flag { BOOT_SUCCESSOR = 1 };
/* The flags of BOOT have the version of init's keepers above them; init before version 5 of the keepers has 0 there. */
#define BOOT_KEEPERS_SHIFT 16u

enum listen_stage { LISTEN_DIRECTORY = 1, LISTEN_LOCK = 2, LISTEN_SOCKET = 3 };

enum spawn_flag {
    SPAWN_TERMINAL = 1,
    SPAWN_STDIN = 2,
    SPAWN_MERGE = 4,
    SPAWN_ACCOUNT = 8,
    SPAWN_BLOCK = 16,
    SPAWN_TIED = 32,
    SPAWN_DISCARD = 64,
    SPAWN_DEFER = 128,
    SPAWN_REUSE = 256,
    SPAWN_MEMBER = 512,
#if KEEPER_VERSION >= 5
    SPAWN_ALL_FLAGS = 1023,
#elif KEEPER_VERSION >= 4
    SPAWN_ALL_FLAGS = 511,
#else
    SPAWN_ALL_FLAGS = 255,
#endif
};

enum spawn_stage {
    STAGE_PROTOCOL = 1,
    STAGE_CLAIM = 2,
    STAGE_DIRECTORY = 3,
    STAGE_PIPE = 4,
    STAGE_FORK = 5,
    STAGE_SESSION = 6,
    STAGE_TTY = 7,
    STAGE_DESCRIPTORS = 8,
    STAGE_RLIMIT = 9,
    STAGE_OOM = 10,
    STAGE_GROUPS = 11,
    STAGE_GID = 12,
    STAGE_UID = 13,
    STAGE_CWD = 14,
    STAGE_EXEC = 15,
};

enum signal_scope { SCOPE_LEADER = 0, SCOPE_GROUP = 1, SCOPE_TREE = 2 };

enum status_flag {
    STATUS_SPAWNED = 1,
    STATUS_EXITED = 2,
    STATUS_CLOSED = 4,
    STATUS_STDIN_OPEN = 8,
    STATUS_PAUSED = 16,
    STATUS_FREE = 32,
};

enum end_cause { CAUSE_NONE = 0, CAUSE_SIGNAL = 1, CAUSE_HARD_TIMEOUT = 2, CAUSE_SHUTDOWN = 3 };

enum oom_verdict { OOM_NO = 0, OOM_YES = 1, OOM_UNKNOWN = 2 };

#define STATUS_BYTES 144u
#define SPAWN_HEADER_BYTES 48u
#define SPAWN_GROUP_BYTES 4u
#define SPAWN_RLIMIT_BYTES 24u
#define OOM_SCORE_LEAVE INT32_MIN

/* How many commands one keeper holds, one after another. */
#define KEEPER_USES_LIMIT 128u

#define SPAWNED_DEFER_MS 2u
/* The sizes of OUTPUT, and how long the answer to STDIN may wait for OUTPUT. */
#define OUTPUT_HEADER_BYTES 32u
#define OUTPUT_LIMIT_BYTES 4096u
#define OUTPUT_LITTLE_BYTES 512u
#define STDIN_DEFER_MS 2u
#define STDIN_WINDOW_BYTES (256u * 1024u)
#define TREE_PIDS_LIMIT 1024u

#define JOURNAL_HEADER_BYTES 1024u
#define JOURNAL_RESERVED_BYTES 8192u
#define GAPS_LIMIT 8u
#define ORDER_LIMIT_BYTES (8u * 1024u * 1024u)

#define SHUTDOWN_GRACE_MS 3000u
#define SHUTDOWN_DAEMON_MS 2000u
#define SHUTDOWN_TOTAL_MS 7000u

/* The timeouts of the steps of an upgrade. An upgrade that exceeds one is called off. */
#define STANDBY_LIMIT_MS 20000u
#define HANDED_LIMIT_MS 5000u
#define TAKE_LIMIT_MS 10000u
/* How many succeeded daemons may still serve clients. When there is one more, the oldest is asked to close. */
#define LEAVING_LIMIT 3u
#define VERSION_BYTES 64u

#define CRASH_LOOP_DEATHS 10u
#define CRASH_LOOP_LIFE_MS 1000u
#define CRASH_LOOP_EXIT_CODE 70
#define BACKOFF_FIRST_MS 10u
#define BACKOFF_LIMIT_MS 2000u

#endif
