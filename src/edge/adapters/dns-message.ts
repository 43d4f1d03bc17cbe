// DNS messages about TXT records: the question, and what an answer to it says. No socket is touched here; whatever bytes
// come in, nothing is thrown.
import { type Answer, decode, encode, RECURSION_DESIRED } from 'dns-packet'
import type { TxtAnswer } from '../ports.ts'

/** Larger answers are refused, however they travel. */
export const MAX_MESSAGE_BYTES = 4096
/** RFC 9715: what crosses the internet in one piece. */
const UDP_PAYLOAD_BYTES = 1232
const HEADER_BYTES = 12
const MAX_NAME_CHARS = 253

export interface Question {
  readonly id: number
  readonly name: string
  /** The whole query, as sent. */
  readonly bytes: Buffer
  /** Its question section, which an answer has to repeat byte for byte. */
  readonly section: Buffer
}

/** @param name lower-case ASCII without a trailing dot; undefined when DNS cannot hold it */
export function createQuestion(name: string, id: number): Question | undefined {
  if (name.length > MAX_NAME_CHARS || !/^[!-~]+$/.test(name)) return undefined
  const labels = name.split('.')
  if (labels.some((label) => label.length === 0 || label.length > 63)) return undefined
  const bytes = encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [{ type: 'TXT', name }],
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
  return { id, name, bytes, section: bytes.subarray(HEADER_BYTES, HEADER_BYTES + name.length + 2 + 4) }
}

export type Reading =
  /** Not an answer to this question: somebody else's, or a forgery that did not guess it. */
  | { readonly is: 'other' }
  | { readonly is: 'truncated' }
  | { readonly is: 'answer'; readonly answer: TxtAnswer }

/** Never throws. */
export function readMessage(message: Buffer, question: Question): Reading {
  if (!answers(message, question)) return { is: 'other' }
  if (message.length > MAX_MESSAGE_BYTES)
    return { is: 'answer', answer: { status: 'failed', reason: 'too_large' } }
  const isTruncated = (message[2]! & 0x02) !== 0
  return isTruncated ? { is: 'truncated' } : { is: 'answer', answer: readAnswer(message, question.name) }
}

/** A response to a standard query with our id and our one question. */
function answers(message: Buffer, { id, section }: Question): boolean {
  return (
    message.length >= HEADER_BYTES + section.length &&
    message.readUInt16BE(0) === id &&
    (message[2]! & 0xf8) === 0x80 &&
    message.readUInt16BE(4) === 1 &&
    message.subarray(HEADER_BYTES, HEADER_BYTES + section.length).equals(section)
  )
}

const NOERROR = 0
const NXDOMAIN = 3

function readAnswer(message: Buffer, name: string): TxtAnswer {
  const rcode = message[3]! & 0x0f
  if (rcode !== NOERROR && rcode !== NXDOMAIN) return { status: 'failed', reason: 'server_failure' }
  const packet = decodeWhole(message)
  if (!packet) return { status: 'failed', reason: 'malformed' }
  // The upper bits of the code are in the OPT record (RFC 6891, 6.1.3).
  if (packet.additionals?.some((each) => each.type === 'OPT' && each.extendedRcode !== 0))
    return { status: 'failed', reason: 'server_failure' }

  const resources = (packet.answers ?? []).flatMap(toResource)
  const chain = followAliases(resources, name)
  if (!chain.ok) return { status: 'failed', reason: chain.reason }
  const { owner, aliases, ttls } = chain
  const found = resources.filter((each) => each.type === 'TXT' && each.owner === owner)
  if (found.length === 0)
    return { status: 'absent', ttlSeconds: negativeTtl(packet.authorities ?? []), aliases }
  if (rcode === NXDOMAIN) return { status: 'failed', reason: 'malformed' }
  return {
    status: 'found',
    records: found.map(({ data }) => data),
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
  readonly type: 'TXT' | 'CNAME'
  readonly ttl: number
  /** Text, one character a byte; or the lower-case name that the alias is of. */
  readonly data: string
}

function toResource(answer: Answer): Resource[] {
  if (answer.type !== 'TXT' && answer.type !== 'CNAME') return []
  if (answer.class !== 'IN' || answer.flush) return []
  const data =
    answer.type === 'TXT'
      ? Buffer.concat(answer.data as readonly Buffer[]).toString('latin1')
      : lower(answer.data as string)
  return [{ owner: lower(answer.name), type: answer.type, ttl: ttlOf(answer.ttl), data }]
}

type Chain =
  | { readonly ok: true; readonly owner: string; readonly aliases: number; readonly ttls: readonly number[] }
  | { readonly ok: false; readonly reason: 'alias_loop' | 'malformed' }

/** Only what hangs together with the asked name counts; how many aliases are too many is for others to say. */
function followAliases(resources: readonly Resource[], name: string): Chain {
  const seen = new Set<string>()
  const ttls: number[] = []
  for (let owner = name; ;) {
    seen.add(owner)
    const own = resources.filter((each) => each.owner === owner)
    const target = own.find(({ type }) => type === 'CNAME')
    if (!target) return { ok: true, owner, aliases: seen.size - 1, ttls }
    // RFC 2181, 10.1: one alias, and nothing beside it. The same one twice is how some servers write a loop down.
    if (own.some(({ type, data }) => type !== 'CNAME' || data !== target.data))
      return { ok: false, reason: 'malformed' }
    owner = target.data
    ttls.push(...own.map(({ ttl }) => ttl))
    if (seen.has(owner)) return { ok: false, reason: 'alias_loop' }
  }
}

/** Names compare without regard to the case of ASCII letters, and of no others. */
const lower = (name: string) => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** RFC 2181, 8: with the top bit set it is zero. */
const ttlOf = (ttl = 0) => (ttl > 0x7fffffff ? 0 : ttl)

/** RFC 2308, 5. */
function negativeTtl(authorities: readonly Answer[]): number | null {
  const times = authorities.flatMap((each) =>
    each.type === 'SOA' ? [Math.min(ttlOf(each.ttl), ttlOf(each.data.minimum))] : [],
  )
  return times.length > 0 ? Math.min(...times) : null
}
