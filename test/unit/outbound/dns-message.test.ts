// What an answer says, byte by byte: built with the encoder of the library, then bent.
import { type Answer, encode, type Packet } from 'dns-packet'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  A,
  AAAA,
  createQuestion,
  type DnsReply,
  MAX_MESSAGE_BYTES,
  MX,
  readMessage,
  type RecordKind,
  TXT,
} from '../../../src/outbound/dns-message.ts'

const NAME = '_agent-gateway.shop.example.com'
const ID = 0xbeef
const RECURSION_AVAILABLE = 0x80
const TRUNCATED = 0x200
const question = createQuestion(TXT, NAME, ID)!

const txt = (data: string | string[], more: object = {}) =>
  ({ type: 'TXT', name: NAME, ttl: 300, data, ...more }) as Answer
const cname = (name: string, data: string, ttl = 300) => ({ type: 'CNAME', name, ttl, data }) as Answer
const soa = (ttl: number, minimum: number) =>
  ({
    type: 'SOA',
    name: 'example.com',
    ttl,
    data: { mname: 'ns.example.com', rname: 'x.example.com', minimum },
  }) as Answer
const ns = { type: 'NS', name: 'example.com', ttl: 300, data: 'ns.example.com' } as Answer

function message(packet: Packet, rcode = 0): Buffer {
  const flags = (packet.flags ?? RECURSION_AVAILABLE) | rcode
  return encode({
    type: 'response',
    id: ID,
    questions: [{ type: 'TXT', name: NAME }],
    ...packet,
    flags,
  })
}

function read(bytes: Buffer): DnsReply<string> {
  const reading = readMessage(bytes, question)
  if (reading.is !== 'answer') throw new Error(reading.is)
  return reading.answer
}
const answered = (answers: Answer[], rcode = 0) => read(message({ answers }, rcode))

describe('a question', () => {
  it('is for TXT, wants recursion, and takes answers of 1232 bytes', () => {
    const { bytes } = question
    expect(bytes.readUInt16BE(0)).toBe(ID)
    expect(bytes.readUInt16BE(2)).toBe(0x0100)
    expect(bytes.subarray(4, 12)).toEqual(Buffer.from([0, 1, 0, 0, 0, 0, 0, 1]))
    // Root name, OPT, payload size.
    expect(bytes.subarray(-11, -6)).toEqual(Buffer.from([0, 0, 41, 0x04, 0xd0]))
    expect(question.section.subarray(-4)).toEqual(Buffer.from([0, 16, 0, 1]))
  })
  it.each<[string, string]>([
    ['too long', `${'a.'.repeat(126)}com`],
    ['with a label that is too long', `${'a'.repeat(64)}.example.com`],
    ['with an empty label', 'a..example.com'],
    ['with a blank', 'a b.example.com'],
    ['beyond ASCII', 'b\xfccher.example.com'],
  ])('cannot be asked about a name %s', (_what, name) => {
    expect(createQuestion(TXT, name, 1)).toBeUndefined()
  })
  it('can be asked about the longest name that there is', () => {
    expect(createQuestion(TXT, `${'a.'.repeat(125)}com`, 1)).toBeDefined()
  })
})

describe('an answer', () => {
  it('gives every record with its strings joined, and the smallest TTL', () => {
    expect(answered([txt(['v=agw1; ', 'gw=a']), txt('other', { ttl: 60 })])).toEqual({
      status: 'found',
      records: ['v=agw1; gw=a', 'other'],
      ttlSeconds: 60,
      aliases: 0,
    })
  })
  it('keeps different bytes different', () => {
    expect(answered([txt('caf\u00e9')])).toMatchObject({ records: ['caf\xc3\xa9'] })
  })
  it('reads names in any case', () => {
    expect(answered([txt('x', { name: NAME.toUpperCase() })])).toMatchObject({ status: 'found' })
  })
  it('takes no letter beyond ASCII for one of ours', () => {
    // The Kelvin sign is a k to who lower-cases by Unicode.
    const host = '_agent-gateway.kiosk.example'
    const asked = createQuestion(TXT, host, ID)!
    const bytes = encode({
      type: 'response',
      id: ID,
      questions: [{ type: 'TXT', name: host }],
      answers: [txt('x', { name: host.replace('kiosk', '\u212aiosk') })],
    })
    expect(readMessage(bytes, asked)).toEqual({
      is: 'answer',
      answer: { status: 'no_data', ttlSeconds: null, aliases: 0 },
    })
  })
  it('has nothing to do with records of other names, types and classes', () => {
    const others = [
      txt('x', { name: 'shop.example.com' }),
      txt('x', { class: 'CH' }),
      { type: 'A', name: NAME, ttl: 1, data: '192.0.2.1' } as Answer,
    ]
    expect(answered(others)).toEqual({ status: 'no_data', ttlSeconds: null, aliases: 0 })
  })
  it('counts aliases, and takes the smallest TTL of the chain', () => {
    const chain = [cname(NAME, 'a.example.net', 30), cname('A.example.net', 'b.example.net')]
    expect(answered([...chain, txt('x', { name: 'b.example.net' })])).toEqual({
      status: 'found',
      records: ['x'],
      ttlSeconds: 30,
      aliases: 2,
    })
  })
  it('is absent where an alias leads nowhere', () => {
    expect(answered([cname(NAME, 'a.example.net')])).toMatchObject({ status: 'no_data', aliases: 1 })
  })
  it.each<[string, Answer[], string]>([
    ['an alias of itself', [cname(NAME, NAME)], 'alias_loop'],
    ['two aliases of each other', [cname(NAME, 'a.net'), cname('a.net', NAME)], 'alias_loop'],
    [
      'a loop that is written down twice',
      [cname(NAME, 'a.net'), cname('a.net', NAME), cname(NAME, 'a.net'), cname('a.net', NAME)],
      'alias_loop',
    ],
    ['two aliases at one name', [cname(NAME, 'a.net'), cname(NAME, 'b.net')], 'malformed'],
    ['a record beside an alias', [cname(NAME, 'a.net'), txt('x'), txt('x', { name: 'a.net' })], 'malformed'],
  ])('fails with %s', (_what, answers, reason) => {
    expect(answered(answers)).toEqual({ status: 'failed', reason })
  })
  it.each<[string, number, object]>([
    ['NOERROR', 0, { status: 'no_data' }],
    ['FORMERR', 1, { status: 'failed', reason: 'server_failure' }],
    ['SERVFAIL', 2, { status: 'failed', reason: 'server_failure' }],
    ['NXDOMAIN', 3, { status: 'no_name' }],
    ['NOTIMP', 4, { status: 'failed', reason: 'server_failure' }],
    ['REFUSED', 5, { status: 'failed', reason: 'server_failure' }],
  ])('without records is, with %s', (_what, rcode, expected) => {
    expect(answered([], rcode)).toMatchObject(expected)
  })
  it('does not hold records of a name that does not exist', () => {
    expect(answered([txt('x')], 3)).toEqual({ status: 'failed', reason: 'malformed' })
  })
  it.each<[string, Answer[], DnsReply<string>]>([
    ['nobody', [], { status: 'no_data', ttlSeconds: null, aliases: 0 }],
    ['the zone itself', [soa(60, 60)], { status: 'no_data', ttlSeconds: 60, aliases: 0 }],
    ['the zone and its servers', [ns, soa(60, 60)], { status: 'no_data', ttlSeconds: 60, aliases: 0 }],
    [
      'other servers: a referral says nothing about the name',
      [ns],
      { status: 'failed', reason: 'server_failure' },
    ],
  ])('without records or error names %s', (_what, authorities, expected) => {
    expect(read(message({ authorities }))).toEqual(expected)
  })
  it('reads the upper bits of the code too: BADVERS is no NOERROR', () => {
    const opt = { type: 'OPT', name: '.', extendedRcode: 1, udpPayloadSize: 512, flags: 0, options: [] }
    expect(read(message({ additionals: [opt as unknown as Answer] }))).toEqual({
      status: 'failed',
      reason: 'server_failure',
    })
  })
  it.each<[string, number, number, number]>([
    ['the minimum of the zone', 900, 30, 30],
    ['the TTL of the SOA where that is less', 20, 300, 20],
    ['nothing where the top bit is set', 0x80000000, 300, 0],
  ])('that is absent lasts %s', (_what, ttl, minimum, seconds) => {
    expect(read(message({ authorities: [soa(ttl, minimum)] }, 3))).toEqual({
      status: 'no_name',
      ttlSeconds: seconds,
      aliases: 0,
    })
  })
  it('that was cut is no answer, whatever it holds', () => {
    const flags = RECURSION_AVAILABLE | TRUNCATED
    expect(readMessage(message({ flags, answers: [txt('x')] }), question)).toEqual({ is: 'truncated' })
  })
  it('of more bytes than are read is refused, and one of just as many is not', () => {
    const wide = (count: number) =>
      message({ answers: [txt(Array.from({ length: count }, () => 'x'.repeat(255)))] })
    const fits = wide(15)
    expect(fits.length).toBeLessThanOrEqual(MAX_MESSAGE_BYTES)
    expect(read(fits)).toMatchObject({ status: 'found' })
    expect(read(wide(16))).toEqual({ status: 'failed', reason: 'too_large' })
  })
})

describe('an answer of another type', () => {
  const records = [
    { type: 'MX', name: 'a.example', ttl: 60, data: { preference: 10, exchange: 'MX1.a.example' } },
    { type: 'MX', name: 'a.example', ttl: 90, data: { preference: 0, exchange: '.' } },
    { type: 'A', name: 'a.example', ttl: 60, data: '192.0.2.1' },
    { type: 'AAAA', name: 'a.example', ttl: 60, data: '2001:db8::1' },
  ] as Answer[]
  it.each<[string, RecordKind<unknown>, unknown[]]>([
    [
      'MX: lower case, the root as nothing',
      MX,
      [
        { exchange: 'mx1.a.example', priority: 10 },
        { exchange: '', priority: 0 },
      ],
    ],
    ['A', A, ['192.0.2.1']],
    ['AAAA', AAAA, ['2001:db8::1']],
    ['TXT: none', TXT, []],
  ])('holds what was asked for and leaves the rest: %s', (_what, kind, expected) => {
    const asked = createQuestion(kind, 'a.example', ID)!
    const bytes = encode({
      type: 'response',
      id: ID,
      questions: [{ type: kind.type, name: 'a.example' }],
      answers: records,
    })
    const reading = readMessage(bytes, asked)
    expect(reading).toMatchObject({
      is: 'answer',
      answer:
        expected.length > 0 ? { status: 'found', records: expected, ttlSeconds: 60 } : { status: 'no_data' },
    })
  })
})

describe('a message that does not belong to the question', () => {
  const right = message({ answers: [txt('x')] })
  it('is told apart by everything that was asked', () => {
    expect(readMessage(right, question).is).toBe('answer')
  })
  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['another id', (bytes) => (bytes.writeUInt16BE(ID ^ 1, 0), bytes)],
    ['a query', (bytes) => ((bytes[2]! &= 0x7f), bytes)],
    ['another operation', (bytes) => ((bytes[2]! |= 0x08), bytes)],
    ['no question', (bytes) => (bytes.writeUInt16BE(0, 4), bytes)],
    ['two questions', (bytes) => (bytes.writeUInt16BE(2, 4), bytes)],
    ['another name', (bytes) => ((bytes[14]! ^= 1), bytes)],
    ['the name in another case', (bytes) => ((bytes[14]! ^= 0x20), bytes)],
    ['another type', (bytes) => ((bytes[12 + question.section.length - 3]! ^= 1), bytes)],
    ['another class', (bytes) => ((bytes[12 + question.section.length - 1]! ^= 2), bytes)],
    ['only a header', (bytes) => bytes.subarray(0, 12)],
    ['nothing', () => Buffer.alloc(0)],
  ])('has %s', (_what, bend) => {
    expect(readMessage(bend(Buffer.from(right)), question)).toEqual({ is: 'other' })
  })
})

describe('hostile bytes', () => {
  const whole = message({
    answers: [cname(NAME, 'a.example.net'), txt(['v=agw1; ', 'gw=a'], { name: 'a.example.net' })],
    authorities: [soa(60, 60)],
  })
  const head = 12 + question.section.length

  it('fail wherever the message ends too early', () => {
    for (let end = head; end < whole.length; end++)
      expect(readMessage(whole.subarray(0, end), question), String(end)).toEqual({
        is: 'answer',
        answer: { status: 'failed', reason: 'malformed' },
      })
  })
  it('fail where more follows than was announced', () => {
    expect(read(Buffer.concat([whole, Buffer.from([0])]))).toEqual({ status: 'failed', reason: 'malformed' })
  })
  it('never throw: one changed byte anywhere', () => {
    for (let at = 0; at < whole.length; at++)
      for (const value of [0, 1, 0x3f, 0x40, 0x7f, 0x80, 0xc0, 0xff]) {
        const bent = Buffer.from(whole)
        bent[at] = value
        expect(['other', 'truncated', 'answer']).toContain(readMessage(bent, question).is)
      }
  })
  it('never throw: anything behind the question', () => {
    const tail = fc.uint8Array({ maxLength: 400 })
    const counts = fc.array(fc.nat({ max: 0xffff }), { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(tail, counts, fc.nat({ max: 15 }), (bytes, [an, ns, ar], rcode) => {
        const header = Buffer.from(whole.subarray(0, head))
        header[3] = rcode
        header.writeUInt16BE(an!, 6)
        header.writeUInt16BE(ns!, 8)
        header.writeUInt16BE(ar!, 10)
        expect(readMessage(Buffer.concat([header, bytes]), question).is).toBe('answer')
      }),
      { numRuns: 2000 },
    )
  })
  it('never throw: any bytes at all', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(readMessage(Buffer.from(bytes), question)).toBeDefined()
      }),
    )
  })
})
