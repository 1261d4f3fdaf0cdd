// Deflate of some kilobytes by a team of threads (RFC 1951), with Huffman codes computed for the data, and runs that repeat the last two bytes. The
// output ends at a whole byte, so that pieces can be concatenated.
#pragma once
#include "abi.h"

namespace THRONG_NAMESPACE {

// A thread's share: eight-byte words, each of which is part of a run or consists of literals. An aligned group of eight shares that consist of runs
// only is written as one run.
constexpr uint32_t kShare = 32, kShares = EXR_PIECE / kShare, kGroup = 8, kWord = 8, kWords = kShare / kWord;
// With one word between shares, threads that read corresponding bytes of neighbouring shares have no bank conflicts.
constexpr uint32_t kShareStride = kShare + 4;
constexpr uint32_t kLiterals = 286, kEnd = 256, kLongestCode = 15;
// Symbol, extra bits and their number, for runs of one to four words or of a group. The distance, 2, has the only code of its table: one bit, 0.
struct RunLength {
    uint32_t symbol, extra, extra_bits;
};
THRONG_DEVICE RunLength run_length(uint32_t words) {
    return words == 1 ? RunLength{262, 0, 0} : words == 2 ? RunLength{267, 1, 1} : words == 3 ? RunLength{270, 1, 2} : words == 4 ? RunLength{272, 1, 2} : RunLength{284, 29, 5};
}
constexpr uint32_t kAdlerBase = 65521;
// Size of the header before uncompressed bytes.
constexpr uint32_t kStoredHead = 5;

// The memory that a team shares.
struct DeflateMemory {
    uint8_t bytes[kShares * kShareStride];
    // The two bytes before the piece, if any.
    uint8_t before[2];
    uint32_t out[EXR_PIECE_ROOM / 4];
    uint32_t counts[kLiterals];
    // Each symbol's code, starting at the lowest bit, with the code's length in the upper 16 bits.
    uint32_t codes[kLiterals];
    // Weights, and later depths, of the tree's nodes, leaves first.
    uint32_t weights[2 * kLiterals];
    uint32_t per_length[kLongestCode + 1], next_code[kLongestCode + 2];
    // Positions of the shares, in bits after the tables, and memory to compute them.
    uint32_t places[2][kShares];
    // The sums of Adler-32 without the initial 1, not yet reduced.
    uint32_t sums[2];
    // Number of symbols in use, size of the tables in bits, and size of the compressed piece in bytes.
    uint32_t used, head, size;
    // The symbols in use, rarest first, and the parents of the tree's nodes.
    uint16_t order[kLiterals], parents[2 * kLiterals];
    uint8_t lengths[kLiterals];
    // For each share, the mask of words that are runs.
    uint8_t runs[kShares];

    THRONG_INLINE uint8_t& at(uint32_t i) { return bytes[i / kShare * kShareStride + i % kShare]; }
};

// Writes bits to words that must be zero initially, and to which other threads also write.
struct BitPlace {
    uint32_t* out;
    uint32_t at;
    uint64_t waiting = 0;
    uint32_t count = 0;

    THRONG_INLINE BitPlace(uint32_t* words, uint32_t bit) : out(words), at(bit / 32), count(bit % 32) {}
    // Appends at most 32 bits.
    THRONG_INLINE void put(uint32_t bits, uint32_t length) {
        waiting |= uint64_t(bits) << count;
        count += length;
        if (count < 32) return;
        or_shared(out[at++], uint32_t(waiting));
        waiting >>= 32;
        count -= 32;
    }
    THRONG_INLINE void finish() {
        if (count) or_shared(out[at], uint32_t(waiting));
    }
    THRONG_INLINE uint32_t bits() const { return 32 * at + count; }
};

// Orders the symbols in use by frequency; ties by number.
THRONG_DEVICE void order_symbols(DeflateMemory& m, const Team& team) {
    for (uint32_t i = team.index; i < kLiterals; i += team.size) {
        const uint32_t count = m.counts[i];
        if (count == 0) continue;
        uint32_t rank = 0;
        for (uint32_t j = 0; j < kLiterals; j++) {
            const uint32_t other = m.counts[j];
            rank += other != 0 && (other < count || (other == count && j < i)) ? 1u : 0u;
        }
        m.order[rank] = uint16_t(i);
        add_shared(m.used, 1);
    }
}

// Run by one thread: computes the lengths of an optimal prefix code by the two-queue method, limits lengths that are too long, and makes the code
// complete again. At least two symbols are in use, because the end of the block is one.
THRONG_DEVICE void choose_lengths(DeflateMemory& m) {
    const uint32_t leaves = m.used, nodes = 2 * leaves - 1;
    for (uint32_t i = 0; i < leaves; i++) m.weights[i] = m.counts[m.order[i]];
    uint32_t leaf = 0, inner = leaves;
    for (uint32_t node = leaves; node < nodes; node++) {
        uint32_t weight = 0;
        for (int k = 0; k < 2; k++) {
            const bool from_leaves = leaf < leaves && (inner >= node || m.weights[leaf] <= m.weights[inner]);
            const uint32_t next = from_leaves ? leaf++ : inner++;
            weight += m.weights[next];
            m.parents[next] = uint16_t(node);
        }
        m.weights[node] = weight;
    }
    for (uint32_t length = 0; length <= kLongestCode; length++) m.per_length[length] = 0;
    m.weights[nodes - 1] = 0;
    for (uint32_t node = nodes - 1; node-- > 0;) {
        const uint32_t depth = m.weights[m.parents[node]] + 1;
        m.weights[node] = depth;
        if (node < leaves) m.per_length[depth < kLongestCode ? depth : kLongestCode]++;
    }
    uint32_t taken = 0;
    for (uint32_t length = 1; length <= kLongestCode; length++) taken += m.per_length[length] << (kLongestCode - length);
    // A leaf of the maximum length becomes the sibling of a shorter leaf, which moves one level down.
    while (taken > 1u << kLongestCode) {
        uint32_t shorter = kLongestCode - 1;
        while (m.per_length[shorter] == 0) shorter--;
        m.per_length[shorter]--;
        m.per_length[shorter + 1] += 2;
        m.per_length[kLongestCode]--;
        taken--;
    }
    // The rarest symbols get the longest codes.
    uint32_t next = 0;
    for (uint32_t length = kLongestCode; length > 0; length--)
        for (uint32_t i = 0; i < m.per_length[length]; i++) m.lengths[m.order[next++]] = uint8_t(length);
    m.next_code[1] = 0;
    for (uint32_t length = 1; length <= kLongestCode; length++) m.next_code[length + 1] = (m.next_code[length] + m.per_length[length]) << 1;
}

// Assigns the codes of one length in the order of symbols (RFC 1951, 3.2.2).
THRONG_DEVICE void number_codes(DeflateMemory& m, const Team& team) {
    for (uint32_t i = team.index; i < kLiterals; i += team.size) {
        const uint32_t length = m.lengths[i];
        if (length == 0) continue;
        uint32_t code = m.next_code[length];
        for (uint32_t j = 0; j < i; j++) code += m.lengths[j] == length ? 1u : 0u;
        m.codes[i] = reverse_bits(code) >> (32 - length) | length << 16;
    }
}

// Run by one thread: writes the start of the block, with the lengths of all codes. These lengths are encoded with a fixed code: four bits, or five
// for rare lengths. Only zeros are written as repeats.
THRONG_DEVICE void write_tables(DeflateMemory& m) {
    // Lengths of the codes of these symbols, in the format's order: 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15.
    const uint8_t told[19] = {0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5};
    BitPlace out(m.out, 0);
    out.put(2 << 1, 3);
    out.put(kLiterals - 257, 5);
    out.put(1, 5);
    out.put(19 - 4, 4);
    for (uint32_t i = 0; i < 19; i++) out.put(told[i], 3);
    // Codes of four bits: 0 for length 0, 1 to 11 for lengths 3 to 13, 12 and 13 for 17 and 18. Codes of five: 28 to 31 for 1, 2, 14, 15.
    auto put4 = [&](uint32_t code) { out.put(reverse_bits(code) >> 28, 4); };
    auto put5 = [&](uint32_t code) { out.put(reverse_bits(code) >> 27, 5); };
    uint32_t zeros = 0;
    auto put_zeros = [&] {
        while (zeros > 0) {
            if (zeros < 3) {
                put4(0);
                zeros--;
            } else if (zeros <= 10) {
                put4(12);
                out.put(zeros - 3, 3);
                zeros = 0;
            } else {
                const uint32_t some = zeros < 138 ? zeros : 138;
                put4(13);
                out.put(some - 11, 7);
                zeros -= some;
            }
        }
    };
    // The lengths for distances come last: no code for 1, one bit for 2.
    for (uint32_t i = 0; i < kLiterals + 2; i++) {
        const uint32_t length = i < kLiterals ? m.lengths[i] : i - kLiterals;
        if (length == 0) {
            zeros++;
            continue;
        }
        put_zeros();
        if (length >= 3 && length <= 13) put4(length - 2);
        else put5(length <= 2 ? 27 + length : 16 + length);
    }
    out.finish();
    m.head = out.bits();
}

// Adds a share's part of Adler-32: the sum of its bytes, and the sum of these sums up to the end of the piece.
THRONG_DEVICE void add_checksums(DeflateMemory& m, uint32_t share, uint32_t count, uint32_t length) {
    uint32_t sum = 0, weighted = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t byte = m.bytes[share * kShareStride + i];
        sum += byte;
        weighted += i * byte;
    }
    add_shared(m.sums[0], sum);
    add_shared(m.sums[1], ((length - share * kShare) * sum - weighted) % kAdlerBase);
}

// Mask of a share's words in which each byte equals the byte two places before it.
THRONG_DEVICE uint8_t runs_of(const DeflateMemory& m, uint32_t share, uint32_t count, bool has_before) {
    const uint8_t* own = m.bytes + share * kShareStride;
    const uint8_t* before = share ? own - kShareStride + kShare - 2 : m.before;
    uint32_t a = before[0], b = before[1], runs = 0;
    for (uint32_t word = 0; kWord * (word + 1) <= count; word++) {
        bool same = word || share || has_before;
        for (uint32_t i = kWord * word; i < kWord * (word + 1); i += 2) {
            same = same && own[i] == a && own[i + 1] == b;
            a = own[i];
            b = own[i + 1];
        }
        runs |= uint32_t(same) << word;
    }
    return uint8_t(runs);
}

// Whether all shares of a share's group consist of runs only.
THRONG_DEVICE bool is_in_group(const DeflateMemory& m, uint32_t share) {
    const uint32_t first = share / kGroup * kGroup;
    uint32_t all = (1 << kWords) - 1;
    for (uint32_t i = first; i < first + kGroup; i++) all &= m.runs[i];
    return all == (1 << kWords) - 1;
}

// Calls `literal` with the bytes and `run` with the runs that make up a share.
template <class Literal, class Run> THRONG_INLINE void say_share(const DeflateMemory& m, uint32_t share, uint32_t count, Literal literal, Run run) {
    if (is_in_group(m, share)) {
        if (share % kGroup == 0) run(run_length(kWords + 1));
        return;
    }
    const uint32_t runs = m.runs[share];
    for (uint32_t at = 0; at < count;) {
        uint32_t words = 0;
        while (runs >> (at / kWord + words) & 1) words++;
        if (words) {
            run(run_length(words));
            at += kWord * words;
            continue;
        }
        for (const uint32_t end = at + kWord; at < end && at < count; at++) literal(m.bytes[share * kShareStride + at]);
    }
}

THRONG_DEVICE void put_symbol(const DeflateMemory& m, BitPlace& out, uint32_t symbol) {
    const uint32_t code = m.codes[symbol];
    out.put(code & 0xffffu, code >> 16);
}

// Prefix sums: replaces each position in the first of the two lists by the sum of all before it. The total is the last element of the other list.
THRONG_DEVICE void sum_places(DeflateMemory& m, const Team& team) {
    static_assert(kShares == 512, "after an odd number of steps, the sums are in the second list");
    uint32_t from = 0;
    for (uint32_t step = 1; step < kShares; step *= 2) {
        for (uint32_t i = team.index; i < kShares; i += team.size)
            m.places[1 - from][i] = m.places[from][i] + (i >= step ? m.places[from][i - step] : 0u);
        team.wait();
        from = 1 - from;
    }
    for (uint32_t i = team.index; i < kShares; i += team.size) m.places[0][i] = i ? m.places[1][i - 1] : 0u;
    team.wait();
}

// Stores the bytes uncompressed. An uncompressed block begins and ends at whole bytes.
THRONG_DEVICE void store_piece(DeflateMemory& m, uint32_t length, const Team& team) {
    uint8_t* out = reinterpret_cast<uint8_t*>(m.out);
    if (team.index == 0) {
        const uint32_t head[kStoredHead] = {0, length & 255u, length >> 8, ~length & 255u, ~length >> 8 & 255u};
        for (uint32_t i = 0; i < kStoredHead; i++) out[i] = uint8_t(head[i]);
    }
    for (uint32_t i = team.index; i < length; i += team.size) out[kStoredHead + i] = m.at(i);
}

// Run by one thread: writes the end-of-block code, and an empty uncompressed block, which pads to a whole byte.
THRONG_DEVICE void end_piece(DeflateMemory& m) {
    BitPlace out(m.out, m.head + m.places[1][kShares - 1]);
    put_symbol(m, out, kEnd);
    out.finish();
    BitPlace marker(m.out, 8 * m.size - 16);
    marker.put(0xffffu, 16);
    marker.finish();
}

// Compresses the `length` bytes that the team put into `m` to `m.out`, and returns the compressed size in bytes. Runs may repeat the bytes in
// `m.before` if there are any.
THRONG_DEVICE uint32_t deflate_piece(DeflateMemory& m, uint32_t length, bool has_before, const Team& team) {
    const auto count_of = [&](uint32_t share) { return share * kShare >= length ? 0 : length - share * kShare < kShare ? length - share * kShare : kShare; };
    for (uint32_t i = team.index; i < EXR_PIECE_ROOM / 4; i += team.size) m.out[i] = 0;
    for (uint32_t i = team.index; i < kLiterals; i += team.size) {
        m.counts[i] = i == kEnd ? 1 : 0;
        m.lengths[i] = 0;
    }
    if (team.index == 0) m.used = m.sums[0] = m.sums[1] = 0;
    team.wait();
    for (uint32_t share = team.index; share < kShares; share += team.size) {
        m.runs[share] = runs_of(m, share, count_of(share), has_before);
        add_checksums(m, share, count_of(share), length);
    }
    team.wait();
    for (uint32_t share = team.index; share < kShares; share += team.size) {
        const auto count = [&](uint32_t symbol) { add_shared(m.counts[symbol], 1); };
        say_share(m, share, count_of(share), count, [&](const RunLength& run) { count(run.symbol); });
    }
    team.wait();
    order_symbols(m, team);
    team.wait();
    if (team.index == 0) choose_lengths(m);
    team.wait();
    number_codes(m, team);
    for (uint32_t share = team.index; share < kShares; share += team.size) {
        uint32_t bits = 0;
        const auto literal = [&](uint32_t byte) { bits += m.lengths[byte]; };
        say_share(m, share, count_of(share), literal, [&](const RunLength& run) { bits += m.lengths[run.symbol] + run.extra_bits + 1; });
        m.places[0][share] = bits;
    }
    team.wait();
    sum_places(m, team);
    if (team.index == 0) {
        write_tables(m);
        const uint32_t bits = m.head + m.places[1][kShares - 1] + m.lengths[kEnd];
        m.size = (bits + 3 + 7) / 8 + 4;
    }
    team.wait();
    if (m.size >= length + kStoredHead) {
        store_piece(m, length, team);
        team.wait();
        return length + kStoredHead;
    }
    for (uint32_t share = team.index; share < kShares; share += team.size) {
        BitPlace out(m.out, m.head + m.places[0][share]);
        const auto literal = [&](uint32_t byte) { put_symbol(m, out, byte); };
        say_share(m, share, count_of(share), literal, [&](const RunLength& run) {
            put_symbol(m, out, run.symbol);
            out.put(run.extra, run.extra_bits + 1);
        });
        out.finish();
    }
    if (team.index == 0) end_piece(m);
    team.wait();
    return m.size;
}

}
