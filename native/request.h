/* Decodes and checks a SPAWN frame. */
#ifndef BOXKEEP_REQUEST_H
#define BOXKEEP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct resource_limit {
    int resource;
    struct rlimit limit;
};

/* The strings point into the decoded frame. The arrays belong to the request. */
struct request {
    uint32_t flags;
    uid_t uid;
    gid_t gid;
    int32_t oom_score_adj;
    uint16_t rows;
    uint16_t columns;
    uint16_t group_count;
    uint16_t limit_count;
    uint32_t argument_count;
    uint32_t variable_count;
    uint64_t cap_bytes;
    uint32_t hard_timeout_ms;
    uint32_t grace_ms;
    gid_t *groups;
    struct resource_limit *limits;
    const char *directory;
    const char *cwd;
    char **arguments;
    char **environment;
};

/* False with errno: EBADMSG when the frame is inconsistent, ENOMEM when memory is short. */
bool decode_request(struct request *request, const uint8_t *payload, size_t size);
void free_request(struct request *request);

#endif
