// Keccak-256 as Ethereum uses it (padding 0x01, where SHA-3 has 0x06), for short texts where nothing may be awaited: the checksum of an
// address takes 10 µs. Whoever hashes payments has the engines of payments/secp256k1.ts.

const RATE_BYTES = 136
const ROUNDS = 24

/** Offsets of the rotations, in the order in which pi visits the lanes. */
const ROTATIONS = [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44]
const LANES = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1]
/** Round constants: the high and the low half of each. */
const [HIGH, LOW] = makeConstants()

/** The round constants come out of a shift register of eight bits (FIPS 202, 3.2.5). */
function makeConstants(): [readonly number[], readonly number[]] {
  const high: number[] = []
  const low: number[] = []
  let register = 1
  for (let round = 0; round < ROUNDS; round++) {
    let [h, l] = [0, 0]
    for (let bit = 0; bit < 7; bit++) {
      const position = 2 ** bit - 1
      if (register & 1) {
        if (position < 32) l |= 1 << position
        else h |= 1 << (position - 32)
      }
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0)
    }
    high.push(h)
    low.push(l)
  }
  return [high, low]
}

/** @returns 32 bytes */
export function keccak256(bytes: Uint8Array): Uint8Array {
  const padded = Buffer.alloc((Math.floor(bytes.length / RATE_BYTES) + 1) * RATE_BYTES)
  padded.set(bytes)
  padded.writeUInt8(1, bytes.length)
  padded.writeUInt8(padded.readUInt8(padded.length - 1) | 0x80, padded.length - 1)
  // Lane i is 2i (low half) and 2i + 1 (high half).
  const state = new Int32Array(50)
  for (let block = 0; block < padded.length; block += RATE_BYTES) {
    for (let word = 0; word < RATE_BYTES / 4; word++) xor(state, word, padded.readInt32LE(block + 4 * word))
    permute(state)
  }
  return new Uint8Array(Buffer.from(state.buffer, 0, 32))
}

const at = (words: Int32Array, index: number): number => words[index] ?? 0

function xor(words: Int32Array, index: number, value: number): void {
  words[index] = at(words, index) ^ value
}

/** The permutation keccak-f[1600]. Plain loops, since nothing else of an inspection takes as long. */
function permute(state: Int32Array): void {
  const columns = new Int32Array(10)
  for (let round = 0; round < ROUNDS; round++) {
    // Theta
    for (let x = 0; x < 10; x++)
      columns[x] =
        at(state, x) ^ at(state, x + 10) ^ at(state, x + 20) ^ at(state, x + 30) ^ at(state, x + 40)
    for (let x = 0; x < 10; x += 2) {
      const left = x === 0 ? 8 : x - 2
      const right = x === 8 ? 0 : x + 2
      const low = at(columns, right)
      const high = at(columns, right + 1)
      const d0 = at(columns, left) ^ ((low << 1) | (high >>> 31))
      const d1 = at(columns, left + 1) ^ ((high << 1) | (low >>> 31))
      for (let y = x; y < 50; y += 10) {
        xor(state, y, d0)
        xor(state, y + 1, d1)
      }
    }
    // Rho and pi
    let low = at(state, 2)
    let high = at(state, 3)
    for (let step = 0; step < 24; step++) {
      const lane = 2 * (LANES[step] ?? 0)
      const by = ROTATIONS[step] ?? 0
      const shift = by & 31
      const a = by < 32 ? low : high
      const b = by < 32 ? high : low
      low = at(state, lane)
      high = at(state, lane + 1)
      state[lane] = (a << shift) | (b >>> (32 - shift))
      state[lane + 1] = (b << shift) | (a >>> (32 - shift))
    }
    // Chi
    for (let y = 0; y < 50; y += 10) {
      const b0 = at(state, y)
      const b1 = at(state, y + 1)
      const b2 = at(state, y + 2)
      const b3 = at(state, y + 3)
      xor(state, y, ~b2 & at(state, y + 4))
      xor(state, y + 1, ~b3 & at(state, y + 5))
      xor(state, y + 2, ~at(state, y + 4) & at(state, y + 6))
      xor(state, y + 3, ~at(state, y + 5) & at(state, y + 7))
      xor(state, y + 4, ~at(state, y + 6) & at(state, y + 8))
      xor(state, y + 5, ~at(state, y + 7) & at(state, y + 9))
      xor(state, y + 6, ~at(state, y + 8) & b0)
      xor(state, y + 7, ~at(state, y + 9) & b1)
      xor(state, y + 8, ~b0 & b2)
      xor(state, y + 9, ~b1 & b3)
    }
    // Iota
    xor(state, 0, LOW[round] ?? 0)
    xor(state, 1, HIGH[round] ?? 0)
  }
}
