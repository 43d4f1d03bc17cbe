// MX, address and TXT questions to the configured DNS servers: two attempts each, the second to the next server where there
// are several; over TCP where an answer was cut.
import { randomInt } from 'node:crypto'
import { ask, listServers } from '../../outbound/adapters/dns-exchange.ts'
import {
  A,
  AAAA,
  createQuestion,
  type DnsReply,
  MX,
  type RecordKind,
  TXT,
} from '../../outbound/dns-message.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import type { DnsAnswer, MailDns } from '../ports.ts'

const ATTEMPT_MS = 800
const ATTEMPTS = 2
/** Nobody answers in less, and timers are not more exact. */
const SHORTEST_ATTEMPT_MS = 5
/** Each is a socket. What comes beyond waits, on its own time. */
const MAX_IN_FLIGHT = 64
/** A zone that does not say how long its silence holds is asked again after this. */
const NEGATIVE_SECONDS = 60

/** @param servers `ip` or `ip:port`; empty: the system's */
export function createMailDns(servers: readonly string[], attemptMs = ATTEMPT_MS): MailDns {
  const known = listServers(servers)
  const semaphore = createSemaphore(MAX_IN_FLIGHT)

  async function askInTime<T>(kind: RecordKind<T>, name: string, timeoutMs: number): Promise<DnsAnswer<T>> {
    const deadline = performance.now() + timeoutMs
    const release = await semaphore.acquire(timeoutMs)
    if (!release) return { status: 'failed', reason: 'timeout' }
    try {
      return await askServers(kind, name, () => deadline - performance.now())
    } finally {
      release()
    }
  }

  async function askServers<T>(
    kind: RecordKind<T>,
    name: string,
    timeLeftMs: () => number,
  ): Promise<DnsAnswer<T>> {
    let last: DnsAnswer<T> = { status: 'failed', reason: known.length > 0 ? 'timeout' : 'failure' }
    for (let attempts = 0; attempts < ATTEMPTS; attempts++) {
      const server = known[attempts % known.length]
      if (!server || timeLeftMs() < SHORTEST_ATTEMPT_MS) break
      // A new id and, with a new socket, a new port for every attempt.
      const question = createQuestion(kind, name, randomInt(0x10000))
      if (!question) return { status: 'no_name', ttlSeconds: NEGATIVE_SECONDS }
      const end = performance.now() + Math.min(attemptMs, timeLeftMs())
      last = toAnswer(await ask(server, question, () => end - performance.now()))
      if (last.status !== 'failed') break
    }
    return last
  }

  return {
    mx: (domain, timeoutMs) => askInTime(MX, domain, timeoutMs),
    txt: (domain, timeoutMs) => askInTime(TXT, domain, timeoutMs),
    addresses: (host, family, timeoutMs) => askInTime(family === 4 ? A : AAAA, host, timeoutMs),
  }
}

function toAnswer<T>(reply: DnsReply<T>): DnsAnswer<T> {
  if (reply.status === 'failed')
    return { status: 'failed', reason: reply.reason === 'timeout' ? 'timeout' : 'failure' }
  if (reply.status === 'found')
    return { status: 'found', records: reply.records, ttlSeconds: reply.ttlSeconds }
  return { status: reply.status, ttlSeconds: reply.ttlSeconds ?? NEGATIVE_SECONDS }
}
