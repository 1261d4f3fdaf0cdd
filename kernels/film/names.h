// IDs of names in mattes, as in Cryptomatte: MurmurHash3_x86_32 (Austin Appleby) with seed 0, modified so that the bits represent a normal float. In
// scenes with assemblies, an ID is the hash of the names on the path to a mesh, separated by slashes.
#pragma once
#include "geom/nested.h"

namespace THRONG_NAMESPACE {

// Incremental hash of a text, byte by byte.
struct TextHash {
    uint32_t hash = 0, word = 0, length = 0;

    THRONG_INLINE static uint32_t rotated(uint32_t x, uint32_t bits) { return x << bits | x >> (32u - bits); }
    THRONG_INLINE static uint32_t scrambled(uint32_t k) { return rotated(k * 0xcc9e2d51u, 15u) * 0x1b873593u; }

    THRONG_INLINE void add(uint32_t byte) {
        word |= byte << 8u * (length & 3u);
        length++;
        if (length & 3u) return;
        hash = rotated(hash ^ scrambled(word), 13u) * 5u + 0xe6546b64u;
        word = 0u;
    }

    // Adds the digits of a number.
    THRONG_INLINE void add_number(uint32_t number) {
        uint32_t unit = 1u;
        while (number / unit >= 10u) unit *= 10u;
        for (; unit > 0u; unit /= 10u) add('0' + number / unit % 10u);
    }

    THRONG_INLINE uint32_t id() const {
        uint32_t h = hash ^ scrambled(word) ^ length;
        h = (h ^ h >> 16u) * 0x85ebca6bu;
        h = (h ^ h >> 13u) * 0xc2b2ae35u;
        h ^= h >> 16u;
        const uint32_t exponent = h >> 23u & 0xffu;
        return exponent == 0u || exponent == 0xffu ? h ^ 1u << 23u : h;
    }
};

// The ID of the path to a hit's mesh. The table starts with two words for each instance of the scene: the position of the stem of its name, and the
// number that follows the stem, or NO_INDEX. A stem consists of its length in bytes, followed by the bytes.
THRONG_OUTLINE uint32_t id_of_way(const Params& params, const uint32_t* names, const Hit& hit) {
    TextHash text;
    bool is_within = false;
    follow_number(params, hit.instance, hit.record, [&](uint32_t index, const InstanceRecord&) {
        if (is_within) text.add('/');
        is_within = true;
        const uint32_t* stem = names + load_word(&names[2u * uint64_t(index)]);
        const uint32_t own = load_word(&names[2u * uint64_t(index) + 1u]), length = load_word(stem);
        for (uint32_t i = 0; i < length; i++) text.add(load_word(&stem[1u + i / 4u]) >> 8u * (i & 3u) & 0xffu);
        if (own == NO_INDEX) return;
        text.add('.');
        text.add_number(own);
    });
    return text.id();
}

// The ID of the hit instance; without names, its number.
THRONG_INLINE uint32_t instance_id(const Params& params, const uint32_t* names, const Hit& hit) {
    if (!names) return hit.instance;
    return is_nested(params) ? id_of_way(params, names, hit) : names[hit.instance];
}

// Maximum number of names per pixel; further names are not counted.
constexpr uint32_t kMatteNames = 16;
constexpr uint32_t kMatteRanks = MATTE_RANKS;

// Coverage of a pixel by each name. If there are more names than places, the first ones count or, if sums are exact, the smallest ones, independent
// of the order of samples.
template <bool exact>
struct Matte {
    uint32_t names[kMatteNames];
    float shares[kMatteNames];
    uint32_t count;

    THRONG_DEVICE void add(uint32_t name, float weight) {
        uint32_t i = 0;
        while (i < count && names[i] != name) i++;
        if (i == kMatteNames) {
            if (!exact) return;
            i = 0;
            for (uint32_t k = 1; k < kMatteNames; k++)
                if (names[k] > names[i]) i = k;
            if (name > names[i]) return;
            names[i] = name;
            shares[i] = 0.0f;
        } else if (i == count) {
            names[count++] = name;
            shares[i] = 0.0f;
        }
        shares[i] += weight;
    }
    // Writes names and coverage, in ascending order of names.
    THRONG_DEVICE void save(uint32_t* words) const {
        words[0] = count;
        for (uint32_t i = 0; i < kMatteNames; i++) words[1 + 2 * i] = words[2 + 2 * i] = 0u;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t place = 0;
            for (uint32_t k = 0; k < count; k++) place += names[k] < names[i] ? 1u : 0u;
            words[1 + 2 * place] = names[i];
            words[2 + 2 * place] = uint32_t(int(shares[i]));
        }
    }
    // Adds saved names and coverage.
    THRONG_DEVICE void join(const uint32_t* words) {
        for (uint32_t i = 0; i < words[0] && i < kMatteNames; i++) add(words[1 + 2 * i], float(int(words[2 + 2 * i])));
    }
    // Writes the names with the greatest coverage in descending order, as pairs of name and coverage.
    THRONG_DEVICE void store(float* out, float scale) {
        for (uint32_t rank = 0; rank < kMatteRanks; rank++) {
            uint32_t best = rank;
            for (uint32_t i = rank + 1; i < count; i++)
                if (shares[i] > shares[best] || (shares[i] == shares[best] && names[i] < names[best])) best = i;
            const bool some = rank < count && shares[best] > 0.0f;
            reinterpret_cast<uint32_t*>(out)[2 * rank] = some ? names[best] : 0u;
            out[2 * rank + 1] = some ? min(shares[best] * scale, 1.0f) : 0.0f;
            if (!some) continue;
            names[best] = names[rank];
            shares[best] = shares[rank];
            shares[rank] = 0.0f;
        }
    }
};

}
