/* SHA-256. See nc_sha256.h; the names are those of FIPS 180-4. */

#include "nc_sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64 }; /* bytes that are worked in at a time */

/* 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turned(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* 6.2.2: works a block into the hash. */
static void add_block(uint32_t H[8], const unsigned char *block)
{
    uint32_t W[64], s[8];

    for (int t = 0; t < 16; t++, block += 4)
        W[t] = (uint32_t) block[0] << 24 | (uint32_t) block[1] << 16 | (uint32_t) block[2] << 8 |
               block[3];
    for (int t = 16; t < 64; t++) {
        uint32_t a = W[t - 15], b = W[t - 2];
        W[t] = (turned(b, 17) ^ turned(b, 19) ^ b >> 10) + W[t - 7] +
               (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + W[t - 16];
    }
    memcpy(s, H, sizeof s); /* a, b, .. h */
    for (int t = 0; t < 64; t++) {
        uint32_t T1 = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[t] + W[t];
        uint32_t T2 = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
                      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += T1;
        s[0] = T1 + T2;
    }
    for (int i = 0; i < 8; i++)
        H[i] += s[i];
}

void nc_sha256(const void *data, size_t bytes, char text[NC_SHA256_TEXT])
{
    uint32_t H[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    /* 5.1.1: behind the data a bit 1, zeros, and the number of bits as the last 8 bytes */
    unsigned char last[2 * BLOCK] = {0};
    size_t whole = bytes / BLOCK * BLOCK, rest = bytes - whole;
    size_t end = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;

    for (size_t at = 0; at < whole; at += BLOCK)
        add_block(H, (const unsigned char *) data + at);
    if (rest)
        memcpy(last, (const unsigned char *) data + whole, rest);
    last[rest] = 0x80;
    for (size_t i = 0; i < 8; i++)
        last[end - 1 - i] = (unsigned char) ((uint64_t) bytes * 8 >> (8 * i));
    for (size_t at = 0; at < end; at += BLOCK)
        add_block(H, last + at);
    for (int i = 0; i < 8; i++)
        snprintf(text + 8 * i, 9, "%08x", (unsigned) H[i]);
}
