/* SHA-256, which verifies the daemon that the program carries. */
#include "sha256.h"

#include <string.h>

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t value, unsigned bits) {
    return value >> bits | value << (32 - bits);
}

static void expand_block(const uint8_t *block, uint32_t words[64]) {
    for (unsigned index = 0; index < 16; index++, block += 4)
        words[index] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    for (unsigned index = 16; index < 64; index++) {
        uint32_t early = words[index - 15], late = words[index - 2];
        uint32_t first = rotate(early, 7) ^ rotate(early, 18) ^ early >> 3;
        uint32_t second = rotate(late, 17) ^ rotate(late, 19) ^ late >> 10;
        words[index] = words[index - 16] + first + words[index - 7] + second;
    }
}

/* a to h are the working state of the standard. They are separate variables that each round shifts: shifting an array
 * by a call is ten times slower, and the daemon has a hundred megabytes. */
static void add_block(struct sha256 *sha, const uint8_t *block) {
    uint32_t words[64], *state = sha->state;
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    expand_block(block, words);
    for (unsigned index = 0; index < 64; index++) {
        uint32_t first = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25), choice = (e & f) ^ (~e & g);
        uint32_t second = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22), majority = (a & b) ^ (a & c) ^ (b & c);
        uint32_t added = h + first + choice + round_constants[index] + words[index];
        h = g, g = f, f = e, e = d + added;
        d = c, c = b, b = a, a = added + second + majority;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void begin_sha256(struct sha256 *sha) {
    static const uint32_t start[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    memcpy(sha->state, start, sizeof start);
    sha->length = 0;
}

/* Takes up to one block and returns the number of bytes taken. Whole blocks are not copied first. */
static size_t add_part(struct sha256 *sha, const uint8_t *bytes, size_t size) {
    size_t used = sha->length % sizeof sha->block, left = sizeof sha->block - used;
    if (used == 0 && size >= left) {
        add_block(sha, bytes);
        return left;
    }
    size_t count = left < size ? left : size;
    memcpy(sha->block + used, bytes, count);
    if (count == left) add_block(sha, sha->block);
    return count;
}

void add_sha256(struct sha256 *sha, const uint8_t *bytes, size_t size) {
    while (size > 0) {
        size_t count = add_part(sha, bytes, size);
        sha->length += count;
        bytes += count;
        size -= count;
    }
}

void end_sha256(struct sha256 *sha, uint8_t digest[SHA256_BYTES]) {
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = sha->length * 8;
    uint8_t length[8];
    for (unsigned index = 0; index < 8; index++) length[index] = (uint8_t)(bits >> (56 - 8 * index));
    add_sha256(sha, padding, 1 + (119 - sha->length % 64) % 64);
    add_sha256(sha, length, sizeof length);
    for (unsigned index = 0; index < SHA256_BYTES; index++)
        digest[index] = (uint8_t)(sha->state[index / 4] >> (24 - 8 * (index % 4)));
}
