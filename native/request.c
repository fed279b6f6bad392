/* Decodes and checks a SPAWN frame. */
#include "request.h"

#include <errno.h>
#include <stdlib.h>

#include "frame.h"
#include "protocol.h"

static void read_numbers(struct request *request, struct field_reader *reader) {
    request->flags = read_u32(reader);
    request->uid = read_u32(reader);
    request->gid = read_u32(reader);
    request->oom_score_adj = (int32_t)read_u32(reader);
    request->rows = read_u16(reader);
    request->columns = read_u16(reader);
    request->group_count = read_u16(reader);
    request->limit_count = read_u16(reader);
    request->argument_count = read_u32(reader);
    request->variable_count = read_u32(reader);
    request->cap_bytes = read_u64(reader);
    request->hard_timeout_ms = read_u32(reader);
    request->grace_ms = read_u32(reader);
}

/* Every counted item takes space in the frame, so that no count can request more memory than its frame has. */
static bool has_plausible_counts(const struct request *request, size_t left) {
    size_t groups = request->group_count * (size_t)SPAWN_GROUP_BYTES;
    size_t arrays = groups + request->limit_count * (size_t)SPAWN_RLIMIT_BYTES;
    if (arrays > left) return false;
    uint64_t strings = 2 + (uint64_t)request->argument_count + request->variable_count;
    return request->argument_count > 0 && strings <= left - arrays;
}

static bool allocate_arrays(struct request *request) {
    request->groups = calloc(request->group_count + 1u, sizeof *request->groups);
    request->limits = calloc(request->limit_count + 1u, sizeof *request->limits);
    request->arguments = calloc((size_t)request->argument_count + 1, sizeof *request->arguments);
    request->environment = calloc((size_t)request->variable_count + 1, sizeof *request->environment);
    return request->groups && request->limits && request->arguments && request->environment;
}

static void read_limit(struct resource_limit *limit, struct field_reader *reader) {
    limit->resource = (int)read_u32(reader);
    read_u32(reader);
    limit->limit.rlim_cur = read_u64(reader);
    limit->limit.rlim_max = read_u64(reader);
}

/* execve takes arrays of char *, although it does not modify the strings. */
static void read_strings(char **strings, uint32_t count, struct field_reader *reader) {
    for (uint32_t index = 0; index < count; index++) strings[index] = (char *)(uintptr_t)read_string(reader);
}

static void read_arrays(struct request *request, struct field_reader *reader) {
    for (uint16_t index = 0; index < request->group_count; index++) request->groups[index] = read_u32(reader);
    for (uint16_t index = 0; index < request->limit_count; index++) read_limit(&request->limits[index], reader);
    request->directory = read_string(reader);
    request->cwd = read_string(reader);
    read_strings(request->arguments, request->argument_count, reader);
    read_strings(request->environment, request->variable_count, reader);
}

static bool is_acceptable(const struct request *request) {
    return (request->flags & ~(uint32_t)SPAWN_ALL_FLAGS) == 0 && request->directory[0] == '/';
}

bool decode_request(struct request *request, const uint8_t *payload, size_t size) {
    struct field_reader reader = read_fields(payload, size);
    *request = (struct request){0};
    read_numbers(request, &reader);
    errno = EBADMSG;
    if (reader.has_failed || !has_plausible_counts(request, reader.left)) return false;
    if (!allocate_arrays(request)) {
        errno = ENOMEM;
        return false;
    }
    read_arrays(request, &reader);
    errno = EBADMSG;
    return is_read_exactly(&reader) && is_acceptable(request);
}

void free_request(struct request *request) {
    free(request->groups);
    free(request->limits);
    free(request->arguments);
    free(request->environment);
    *request = (struct request){0};
}
