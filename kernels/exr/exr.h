// Blocks of rows for OpenEXR files with ZIP compression: the bytes of all values are reordered, predicted and then deflated (OpenEXR File Layout; RFC
// 1950, 1951). The method is that of crates/output/src/exr on the CPU: Huffman codes, and repeats of the last two bytes. A block's bytes do
// not depend on the number of threads.
#pragma once
#include "exr/deflate.h"

namespace THRONG_NAMESPACE {

// The greatest half float, and the depth of pixels without a hit. crates/picture/src/aov/channels.rs defines equal values.
constexpr float kHalfMax = 65504.0f, kFarDepth = 1e10f;
// Sizes in bytes. kBlockHead: first row and size, before a block. kZlibHead: zlib's header, before the deflated bytes. kZlibTail: a final empty
// deflate block and the checksum, after the deflated bytes.
constexpr uint32_t kBlockHead = 8, kZlibHead = 2, kZlibTail = 9;

// Threads per block on a GPU.
constexpr uint32_t kPieceThreads = 256;

struct BlockRows {
    uint32_t first, bytes;
};

THRONG_DEVICE BlockRows block_rows(const ExrParams& p, uint32_t block) {
    const uint32_t first = block * p.block_rows, rows = first + p.block_rows <= p.height ? p.block_rows : p.height - first;
    return BlockRows{first, rows * p.row_bytes};
}

// Iterates over the uncompressed bytes of a block's rows: row by row, and channel by channel in each row.
struct PlainBytes {
    const ExrParams& p;
    const ExrChannel* channel;
    uint32_t row, offset;

    // Starts at byte `at` of the rows that begin at `first_row`.
    THRONG_INLINE PlainBytes(const ExrParams& params, uint32_t first_row, uint32_t at) : p(params) {
        row = at / p.row_bytes;
        at -= row * p.row_bytes;
        row += first_row;
        uint32_t low = 0, high = p.channel_count;
        while (high - low > 1) {
            const uint32_t middle = (low + high) / 2;
            if (p.channels[middle].begin <= at) low = middle;
            else high = middle;
        }
        channel = p.channels + low;
        offset = at - channel->begin;
    }
    THRONG_INLINE uint32_t get() const {
        const bool half = channel->kind == CHANNEL_HALF;
        const uint32_t x = half ? offset >> 1 : offset >> 2, byte = half ? offset & 1 : offset & 3;
        const float value = channel->values[(uint64_t(row) * p.width + x) * channel->stride];
        if (half) return half_bits(min(max(value, -kHalfMax), kHalfMax)) >> 8 * byte & 255u;
        return float_bits(channel->kind == CHANNEL_DEPTH ? min(value, kFarDepth) : value) >> 8 * byte & 255u;
    }
    // Skips two bytes.
    THRONG_INLINE void skip_two() {
        offset += 2;
        if (offset < p.width * (channel->kind == CHANNEL_HALF ? 2u : 4u)) return;
        offset -= p.width * (channel->kind == CHANNEL_HALF ? 2u : 4u);
        channel++;
        if (channel < p.channels + p.channel_count) return;
        channel = p.channels;
        row++;
    }
};

// Stores bytes `at` to `at + count` of a block in the predicted form that is deflated. Bytes at even positions come before bytes at odd positions,
// and each is replaced by its difference from the previous one, plus 128.
template <class Store> THRONG_INLINE void predicted_bytes(const ExrParams& p, const BlockRows& rows, uint32_t at, uint32_t count, Store store) {
    const uint32_t half = rows.bytes / 2, end = at + count;
    // The first byte is stored unchanged.
    uint32_t last = 128;
    for (uint32_t from = at ? at - 1 : 0; from < end;) {
        PlainBytes bytes(p, rows.first, from < half ? 2 * from : 2 * (from - half) + 1);
        const uint32_t stop = from < half && end > half ? half : end;
        for (; from < stop; from++) {
            const uint32_t byte = bytes.get();
            if (from >= at) store(from - at, uint8_t(byte - last + 128u));
            last = byte;
            bytes.skip_two();
        }
    }
}

// Deflates one piece of a block into its room.
THRONG_DEVICE void deflate_exr_piece(const ExrParams& p, uint32_t index, DeflateMemory& memory, const Team& team) {
    const BlockRows rows = block_rows(p, index / p.pieces_per_block);
    const uint32_t start = index % p.pieces_per_block * EXR_PIECE;
    ExrPiece& piece = p.pieces[index];
    if (start >= rows.bytes) {
        if (team.index == 0) piece = ExrPiece{};
        return;
    }
    const uint32_t length = rows.bytes - start < EXR_PIECE ? rows.bytes - start : EXR_PIECE;
    // Neighbouring threads process neighbouring bytes, and each processes a few consecutive bytes, because a byte needs the byte before it.
    constexpr uint32_t kRun = 4;
    for (uint32_t at = kRun * team.index; at < length; at += kRun * team.size)
        predicted_bytes(p, rows, start + at, length - at < kRun ? length - at : kRun, [&](uint32_t i, uint8_t byte) { memory.at(at + i) = byte; });
    if (team.index == 0 && start >= 2) predicted_bytes(p, rows, start - 2, 2, [&](uint32_t i, uint8_t byte) { memory.before[i] = byte; });
    const uint32_t size = deflate_piece(memory, length, start >= 2, team);
    uint32_t* room = reinterpret_cast<uint32_t*>(p.room + uint64_t(index) * EXR_PIECE_ROOM);
    for (uint32_t i = team.index; 4 * i < size; i += team.size) room[i] = memory.out[i];
    if (team.index == 0) piece = ExrPiece{size, 0, {memory.sums[0] % kAdlerBase, memory.sums[1] % kAdlerBase}};
}

// Computes the offsets of all pieces and blocks. Run by one team.
THRONG_DEVICE void place_exr_blocks(const ExrParams& p, const Team& team) {
    for (uint32_t block = team.index; block < p.block_count; block += team.size) {
        uint32_t left = block_rows(p, block).bytes, size = kZlibHead;
        const uint32_t bytes = left;
        uint64_t a = 1, b = 0;
        for (uint32_t i = 0; i < p.pieces_per_block; i++) {
            ExrPiece& piece = p.pieces[block * p.pieces_per_block + i];
            piece.begin = size;
            size += piece.size;
            const uint32_t length = left < EXR_PIECE ? left : EXR_PIECE;
            b = (b + a * length + piece.sums[1]) % kAdlerBase;
            a = (a + piece.sums[0]) % kAdlerBase;
            left -= length;
        }
        size += kZlibTail;
        // A block that compression does not make smaller is stored uncompressed, with its plain size.
        p.blocks[block] = ExrBlock{0, size < bytes ? size : bytes, uint32_t(b << 16 | a)};
    }
    team.wait();
    if (team.index) return;
    uint64_t offset = 0;
    for (uint32_t block = 0; block < p.block_count; block++) {
        p.blocks[block].offset = offset;
        offset += kBlockHead + p.blocks[block].size;
    }
    p.blocks[p.block_count] = ExrBlock{offset, 0, 0};
}

// Copies bytes to any address, in words where possible, because single-byte writes to host memory are slow.
THRONG_DEVICE void copy_bytes(uint8_t* to, const uint8_t* from, uint32_t count, const Team& team) {
    const uint32_t head = uint32_t(-reinterpret_cast<uintptr_t>(to) & 3u), aligned = head < count ? head : count;
    const uint32_t words = (count - aligned) / 4;
    for (uint32_t i = team.index; i < aligned; i += team.size) to[i] = from[i];
    for (uint32_t i = team.index; i < words; i += team.size) {
        const uint8_t* bytes = from + aligned + 4 * i;
        *reinterpret_cast<uint32_t*>(to + aligned + 4 * i) = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | uint32_t(bytes[3]) << 24;
    }
    for (uint32_t i = aligned + 4 * words + team.index; i < count; i += team.size) to[i] = from[i];
}

THRONG_DEVICE void store_word(uint8_t* to, uint32_t word) {
    for (uint32_t i = 0; i < 4; i++) to[i] = uint8_t(word >> 8 * i);
}

// Copies one piece from its room to its place in the file. With the first piece of a block, also writes the bytes around the pieces.
THRONG_DEVICE void copy_exr_piece(const ExrParams& p, uint32_t index, const Team& team) {
    const uint32_t block = index / p.pieces_per_block, number = index % p.pieces_per_block;
    const BlockRows rows = block_rows(p, block);
    const ExrBlock& placed = p.blocks[block];
    uint8_t* out = p.out + placed.offset;
    const bool plain = placed.size == rows.bytes;
    if (number == 0 && team.index == 0) {
        store_word(out, rows.first);
        store_word(out + 4, placed.size);
    }
    out += kBlockHead;
    if (plain) {
        const uint32_t start = number * EXR_PIECE;
        for (uint32_t i = start + team.index; i < rows.bytes && i < start + EXR_PIECE; i += team.size)
            out[i] = uint8_t(PlainBytes(p, rows.first, i).get());
        return;
    }
    if (number == 0 && team.index == 0) {
        // zlib's header: deflate, 32 KiB window, fastest; the two bytes are a multiple of 31.
        out[0] = 0x78;
        out[1] = 0x01;
        uint8_t* tail = out + placed.size - kZlibTail;
        tail[0] = 1;
        store_word(tail + 1, 0xffff0000u);
        for (uint32_t i = 0; i < 4; i++) tail[5 + i] = uint8_t(placed.checksum >> (24 - 8 * i));
    }
    const ExrPiece& piece = p.pieces[index];
    copy_bytes(out + piece.begin, p.room + uint64_t(index) * EXR_PIECE_ROOM, piece.size, team);
}

}
