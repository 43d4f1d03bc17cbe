// DNS messages about records of one type: the question, and what an answer to it says. No socket is touched here; whatever
// bytes come in, nothing is thrown.
import { type Answer, decode, encode, RECURSION_DESIRED } from 'dns-packet'

/** The answer of one resolver. */
export type DnsReply<T> =
  | {
      readonly status: 'found'
      /** The addresses are in any order. */
      readonly records: readonly T[]
      /** Smallest of the answer, an alias included. */
      readonly ttlSeconds: number
      /** Aliases (CNAME) followed from the name to the records. */
      readonly aliases: number
    }
  /** There is no such name; or there is, without a record of this type. `ttlSeconds`: null where the zone does not say. */
  | { readonly status: 'no_name' | 'no_data'; readonly ttlSeconds: number | null; readonly aliases: number }
  | { readonly status: 'failed'; readonly reason: DnsFailure }

export type DnsFailure = 'timeout' | 'server_failure' | 'malformed' | 'too_large' | 'alias_loop'

/** A type of record, and what is read of one. */
export interface RecordKind<T> {
  readonly type: 'TXT' | 'MX' | 'A' | 'AAAA'
  read(data: unknown): T
}

/** The strings of one record joined, one character a byte. */
export const TXT: RecordKind<string> = {
  type: 'TXT',
  read: (data) => Buffer.concat(data as readonly Buffer[]).toString('latin1'),
}
export interface MxRecord {
  /** Lower case, without the trailing dot: empty for the root. */
  readonly exchange: string
  readonly priority: number
}
export const MX: RecordKind<MxRecord> = {
  type: 'MX',
  read(data) {
    const { exchange, preference } = data as { exchange: string; preference: number }
    return { exchange: exchange === '.' ? '' : lower(exchange), priority: preference }
  },
}
export const A: RecordKind<string> = { type: 'A', read: (data) => data as string }
export const AAAA: RecordKind<string> = { type: 'AAAA', read: (data) => data as string }

/** Larger answers are refused, however they travel. */
export const MAX_MESSAGE_BYTES = 4096
/** RFC 9715: what crosses the internet in one piece. */
const UDP_PAYLOAD_BYTES = 1232
const HEADER_BYTES = 12
const MAX_NAME_CHARS = 253

export interface Question<T> {
  readonly id: number
  readonly kind: RecordKind<T>
  readonly name: string
  /** The whole query, as sent. */
  readonly bytes: Buffer
  /** Its question section, which an answer has to repeat byte for byte. */
  readonly section: Buffer
}

/** @param name lower-case ASCII without a trailing dot; undefined when DNS cannot hold it */
export function createQuestion<T>(kind: RecordKind<T>, name: string, id: number): Question<T> | undefined {
  if (name.length > MAX_NAME_CHARS || !/^[!-~]+$/.test(name)) return undefined
  const labels = name.split('.')
  if (labels.some((label) => label.length === 0 || label.length > 63)) return undefined
  const bytes = encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [{ type: kind.type, name }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: UDP_PAYLOAD_BYTES,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  })
  // Length bytes and the root label around the name, then type and class.
  return { id, kind, name, bytes, section: bytes.subarray(HEADER_BYTES, HEADER_BYTES + name.length + 2 + 4) }
}

export type Reading<T> =
  /** It answers another question: somebody else's, or it is a forgery that did not guess this one. */
  | { readonly is: 'other' }
  | { readonly is: 'truncated' }
  | { readonly is: 'answer'; readonly answer: DnsReply<T> }

/** Never throws. */
export function readMessage<T>(message: Buffer, question: Question<T>): Reading<T> {
  if (!answers(message, question)) return { is: 'other' }
  if (message.length > MAX_MESSAGE_BYTES)
    return { is: 'answer', answer: { status: 'failed', reason: 'too_large' } }
  const isTruncated = (message.readUInt8(2) & 0x02) !== 0
  return isTruncated ? { is: 'truncated' } : { is: 'answer', answer: readAnswer(message, question) }
}

/** A response to a standard query with our id and our one question. */
function answers(message: Buffer, { id, section }: Pick<Question<unknown>, 'id' | 'section'>): boolean {
  return (
    message.length >= HEADER_BYTES + section.length &&
    message.readUInt16BE(0) === id &&
    (message.readUInt8(2) & 0xf8) === 0x80 &&
    message.readUInt16BE(4) === 1 &&
    message.subarray(HEADER_BYTES, HEADER_BYTES + section.length).equals(section)
  )
}

const NOERROR = 0
const NXDOMAIN = 3

function readAnswer<T>(message: Buffer, { kind, name }: Question<T>): DnsReply<T> {
  const rcode = message.readUInt8(3) & 0x0f
  if (rcode !== NOERROR && rcode !== NXDOMAIN) return { status: 'failed', reason: 'server_failure' }
  const packet = decodeWhole(message)
  if (!packet) return { status: 'failed', reason: 'malformed' }
  // The upper bits of the code are in the OPT record (RFC 6891, 6.1.3).
  if (packet.additionals?.some((each) => each.type === 'OPT' && each.extendedRcode !== 0))
    return { status: 'failed', reason: 'server_failure' }

  const resources = (packet.answers ?? []).flatMap((answer) => toResource(answer, kind.type))
  const chain = followAliases(resources, name)
  if (!chain.ok) return { status: 'failed', reason: chain.reason }
  const { owner, aliases, ttls } = chain
  const found = resources.filter((each) => each.alias === undefined && each.owner === owner)
  const authorities = packet.authorities ?? []
  // RFC 2308, 2.2: a referral. The server looked no further, so nothing is said about the name.
  if (found.length === 0 && rcode === NOERROR && isReferral(authorities))
    return { status: 'failed', reason: 'server_failure' }
  if (found.length === 0)
    return {
      status: rcode === NXDOMAIN ? 'no_name' : 'no_data',
      ttlSeconds: negativeTtl(authorities),
      aliases,
    }
  if (rcode === NXDOMAIN) return { status: 'failed', reason: 'malformed' }
  return {
    status: 'found',
    records: found.map(({ data }) => kind.read(data)),
    ttlSeconds: Math.min(...ttls, ...found.map(({ ttl }) => ttl)),
    aliases,
  }
}

function decodeWhole(message: Buffer): ReturnType<typeof decode> | undefined {
  try {
    const packet = decode(message)
    // The decoder reads past the end as if nothing were missing.
    return decode.bytes === message.length ? packet : undefined
  } catch {
    return undefined
  }
}

interface Resource {
  /** Lower case. */
  readonly owner: string
  readonly ttl: number
  /** An alias has the lower-case name that it is of. */
  readonly alias: string | undefined
  /** The data of a record of the type that was asked for, as the decoder gives it. */
  readonly data: unknown
}

function toResource(answer: Answer, type: RecordKind<unknown>['type']): Resource[] {
  if (answer.type !== type && answer.type !== 'CNAME') return []
  if (answer.class !== 'IN' || answer.flush) return []
  const alias = answer.type === 'CNAME' ? lower(answer.data) : undefined
  return [{ owner: lower(answer.name), ttl: ttlOf(answer.ttl), alias, data: answer.data }]
}

type Chain =
  | { readonly ok: true; readonly owner: string; readonly aliases: number; readonly ttls: readonly number[] }
  | { readonly ok: false; readonly reason: 'alias_loop' | 'malformed' }

/** Records that hang together with the asked name count; how many aliases are too many is for others to say. */
function followAliases(resources: readonly Resource[], name: string): Chain {
  const seen = new Set<string>()
  const ttls: number[] = []
  for (let owner = name; ;) {
    seen.add(owner)
    const own = resources.filter((each) => each.owner === owner)
    const target = own.find(({ alias }) => alias !== undefined)?.alias
    if (target === undefined) return { ok: true, owner, aliases: seen.size - 1, ttls }
    // RFC 2181, 10.1: one alias, and nothing beside it. The same one twice is how some servers write a loop down.
    if (own.some(({ alias }) => alias !== target)) return { ok: false, reason: 'malformed' }
    owner = target
    ttls.push(...own.map(({ ttl }) => ttl))
    if (seen.has(owner)) return { ok: false, reason: 'alias_loop' }
  }
}

/** Names compare without regard to the case of ASCII letters, and of no others. */
const lower = (name: string) => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** RFC 2181, 8: with the top bit set it is zero. */
const ttlOf = (ttl = 0) => (ttl > 0x7fffffff ? 0 : ttl)

const isReferral = (authorities: readonly Answer[]) =>
  authorities.some(({ type }) => type === 'NS') && !authorities.some(({ type }) => type === 'SOA')

/** RFC 2308, 5. */
function negativeTtl(authorities: readonly Answer[]): number | null {
  const times = authorities.flatMap((each) =>
    each.type === 'SOA' ? [Math.min(ttlOf(each.ttl), ttlOf(each.data.minimum))] : [],
  )
  return times.length > 0 ? Math.min(...times) : null
}
