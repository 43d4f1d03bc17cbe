import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAddressPolicy } from '../../../src/egress/address.ts'
import { cites } from '../../requirements.ts'

const policy = createAddressPolicy([])
const reasonOf = (address: string, allow: string[] = []) => {
  const verdict = createAddressPolicy(allow).classify(address)
  return verdict.ok ? 'ok' : verdict.reason
}

test.each([
  ['8.8.8.8', 'ok'],
  ['0.0.0.0', 'this_network'],
  ['10.255.255.255', 'private'],
  ['11.0.0.0', 'ok'],
  ['100.64.0.1', 'shared'],
  ['127.1.2.3', 'loopback'],
  ['169.254.169.254', 'link_local'],
  ['168.63.129.15', 'ok'],
  ['168.63.129.16', 'cloud_metadata'],
  ['168.63.129.17', 'ok'],
  ['198.19.255.255', 'benchmarking'],
  ['198.20.0.0', 'ok'],
  ['223.255.255.255', 'ok'],
  ['224.0.0.1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['2606:4700::1111', 'ok'],
  ['::', 'this_network'],
  ['::1', 'loopback'],
  ['::ffff:8.8.8.8', 'embeds_ipv4'],
  ['64:ff9b::808:808', 'embeds_ipv4'],
  ['2002:808:808::1', 'embeds_ipv4'],
  ['2001:0:1234::1', 'embeds_ipv4'],
  ['2001:1ff:ffff::1', 'reserved'],
  ['2001:200::1', 'ok'],
  ['2001:db8::1', 'documentation'],
  ['3fff:fff::1', 'documentation'],
  ['3fff:1000::1', 'ok'],
  ['fd00:ec2::254', 'cloud_metadata'],
  ['fc00::1', 'private'],
  ['fe80::1', 'link_local'],
  ['ff02::1', 'multicast'],
  ['1fff:ffff::1', 'not_global_unicast'],
  ['4000::1', 'not_global_unicast'],
  ['fe80::1%eth0', 'zone_id'],
  ['2606:4700::1111%1', 'zone_id'],
  ['127.1', 'not_an_address'],
  ['0x7f000001', 'not_an_address'],
  ['localhost', 'not_an_address'],
  ['', 'not_an_address'],
])(cites('egress:addr:ranges', '%s is %s'), (address, expected) => {
  expect(reasonOf(address)).toBe(expected)
})

describe('a range that the operator opens', () => {
  test.each([
    ['127.0.0.1', ['127.0.0.0/8'], 'ok'],
    ['10.0.0.1', ['127.0.0.0/8'], 'private'],
    ['10.1.2.3', ['10.1.2.3/32'], 'ok'],
    ['10.1.2.4', ['10.1.2.3/32'], 'private'],
    ['::1', ['127.0.0.0/8'], 'loopback'],
    ['::1', ['::1/128'], 'ok'],
    ['fd12::1', ['fd12::/16'], 'ok'],
    ['fd13::1', ['fd12::/16'], 'private'],
    ['::ffff:127.0.0.1', ['127.0.0.0/8'], 'embeds_ipv4'],
    ['::ffff:127.0.0.1', ['::/0'], 'embeds_ipv4'],
    ['127.0.0.1', ['::/0'], 'loopback'],
    ['8.8.8.8', ['127.0.0.0/8'], 'ok'],
  ])(cites('egress:addr:opened', '%s with %j open is %s'), (address, allow, expected) => {
    expect(reasonOf(address, allow)).toBe(expected)
  })
})

/** The same rules written down a second time, by arithmetic on the parsed number: the oracle of the property. */
function isPublicByHand(bytes: readonly number[]): boolean {
  const bits = (from: number, count: number) => {
    let value = 0n
    for (let i = from; i < from + count; i++)
      value = (value << 1n) | BigInt((bytes[i >> 3]! >> (7 - (i & 7))) & 1)
    return value
  }
  const [a = 0, b = 0, c = 0, d = 0] = bytes
  if (bytes.length === 4) {
    if (a === 0 || a === 10 || a === 127 || a >= 224) return false
    if (a === 100) return b < 64 || b > 127
    if (a === 168) return !(b === 63 && c === 129 && d === 16)
    if (a === 169) return b !== 254
    if (a === 172) return b < 16 || b > 31
    if (a === 192) {
      if (b === 168) return false
      if (b === 0) return c !== 0 && c !== 2
      if (b === 88) return c !== 99
      if (b === 31) return c !== 196
      if (b === 52) return c !== 193
      return !(b === 175 && c === 48)
    }
    if (a === 198) return b !== 18 && b !== 19 && !(b === 51 && c === 100)
    return !(a === 203 && b === 0 && c === 113)
  }
  if (bits(0, 3) !== 1n) return false
  if (bits(0, 23) === 0x2001_0000n >> 9n || bits(0, 32) === 0x2001_0db8n) return false
  if (bits(0, 16) === 0x2002n || bits(0, 16) === 0x3ffen || bits(0, 20) === 0x3fff0n) return false
  return bits(0, 48) !== 0x2620_004f_8000n
}

const byte = fc.integer({ min: 0, max: 255 })
/** Random addresses, and ones near the edges of the ranges. */
const v4 = fc.oneof(
  fc.tuple(byte, byte, byte, byte),
  fc.tuple(
    fc.constantFrom(0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 240, 255),
    fc.constantFrom(0, 15, 16, 18, 20, 31, 32, 51, 52, 63, 64, 88, 127, 128, 168, 175, 253, 254),
    fc.constantFrom(0, 1, 2, 48, 99, 100, 113, 129, 193, 196),
    fc.constantFrom(0, 1, 16, 255),
  ),
)
const v6 = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.constantFrom(
        0,
        0x64,
        0x1fff,
        0x2000,
        0x2001,
        0x2002,
        0x2003,
        0x2620,
        0x3ffe,
        0x3fff,
        0x4000,
        0xfc00,
        0xfe80,
      ),
    ),
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.constantFrom(0, 0x1ff, 0x200, 0xdb8, 0x4f, 0xfff, 0x1000, 0xff9b),
    ),
    fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 0x8000, 1)),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 5, maxLength: 5 }),
  )
  .map(([a, b, c, rest]) => [a, b, c, ...rest])

describe('agrees with a classifier written by hand', () => {
  test(cites('egress:addr:ipv4', 'on IPv4'), () => {
    fc.assert(
      fc.property(v4, (bytes) => {
        expect(policy.classify(bytes.join('.')).ok).toBe(isPublicByHand(bytes))
      }),
      { numRuns: 5000 },
    )
  })
  test(cites('egress:addr:ipv6', 'on IPv6'), () => {
    fc.assert(
      fc.property(v6, (groups) => {
        const bytes = groups.flatMap((group) => [group >> 8, group & 255])
        const text = groups.map((group) => group.toString(16)).join(':')
        expect(policy.classify(text).ok).toBe(isPublicByHand(bytes))
      }),
      { numRuns: 5000 },
    )
  })
})

test('opens a range whose length has two digits, and nothing beside it', () => {
  const policy = createAddressPolicy(['10.1.0.0/16'])
  expect(policy.classify('10.1.255.255')).toEqual({ ok: true })
  expect(policy.classify('10.2.0.0')).toEqual({ ok: false, reason: 'private' })
})
