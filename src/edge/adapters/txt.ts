// TXT questions to the configured resolvers: two tries over UDP, TCP where the answer was cut.
import { randomInt } from 'node:crypto'
import { ask, type DnsServer, listServers, nameOf } from '../../outbound/adapters/dns-exchange.ts'
import { createQuestion, type DnsReply, TXT } from '../../outbound/dns-message.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import type { TxtAnswer, TxtResolver } from '../ports.ts'

const TRY_MS = 2_000
const TRIES = 2
/** Nobody answers in less, and timers are not more exact. */
const SHORTEST_TRY_MS = 5
/** Each is a socket. What comes beyond waits, on its own time. */
const MAX_IN_FLIGHT = 256

/** @param servers `ip` or `ip:port`; empty: the system's */
export function createTxtResolvers(servers: readonly string[]): readonly TxtResolver[] {
  return listServers(servers).map((server) => createTxtResolver(nameOf(server), server))
}

function createTxtResolver(name: string, server: DnsServer): TxtResolver {
  const asking = new Map<string, Promise<TxtAnswer>>()
  const semaphore = createSemaphore(MAX_IN_FLIGHT)

  async function askInTime(host: string, timeoutMs: number): Promise<TxtAnswer> {
    const deadline = performance.now() + timeoutMs
    const release = await semaphore.acquire(timeoutMs)
    if (!release) return { status: 'failed', reason: 'timeout' }
    try {
      return await askServer(server, host, () => Math.min(TRY_MS, deadline - performance.now()))
    } finally {
      release()
    }
  }

  return {
    name,
    ask(host, timeoutMs) {
      let answer = asking.get(host)
      if (!answer) {
        answer = askInTime(host, timeoutMs).finally(() => asking.delete(host))
        asking.set(host, answer)
      }
      return answer
    },
  }
}

/** @param timeLeftMs of the next try */
async function askServer(server: DnsServer, name: string, timeLeftMs: () => number): Promise<TxtAnswer> {
  let last: TxtAnswer = { status: 'failed', reason: 'timeout' }
  for (let tries = 0; tries < TRIES; tries++) {
    if (timeLeftMs() < SHORTEST_TRY_MS) break
    // A new id and, with a new socket, a new port for every try.
    const question = createQuestion(TXT, name, randomInt(0x10000))
    if (!question) return { status: 'absent', ttlSeconds: null, aliases: 0 }
    const answer = toAnswer(await ask(server, question, timeLeftMs))
    if (answer.status !== 'failed' || (answer.reason !== 'timeout' && answer.reason !== 'server_failure'))
      return answer
    last = answer
  }
  return last
}

/** Whether there is such a name makes no difference to consent. */
function toAnswer(reply: DnsReply<string>): TxtAnswer {
  if (reply.status === 'found' || reply.status === 'failed') return reply
  return { status: 'absent', ttlSeconds: reply.ttlSeconds, aliases: reply.aliases }
}
