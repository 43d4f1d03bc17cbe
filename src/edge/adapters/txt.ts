// TXT questions to the configured resolvers: two tries over UDP, TCP where the answer was cut.
import { randomInt } from 'node:crypto'
import { getServers } from 'node:dns'
import { isIPv6 } from 'node:net'
import type { TxtAnswer, TxtResolver } from '../ports.ts'
import { askOverTcp, askOverUdp, type DnsServer } from './dns-exchange.ts'
import { createQuestion } from './dns-message.ts'

const TRY_MS = 2_000
const TRIES = 2
/** Nobody answers in less, and timers are not more exact. */
const SHORTEST_TRY_MS = 5
const DNS_PORT = 53
/** Each is a socket. What comes beyond waits, on its own time. */
const MAX_IN_FLIGHT = 256

/** @param servers `ip` or `ip:port`; empty: the system's */
export function createTxtResolvers(servers: readonly string[]): readonly TxtResolver[] {
  const named = servers.length > 0 ? servers : getServers()
  const byName = new Map(named.map(parseServer).map((server) => [nameOf(server), server]))
  return [...byName].map(([name, server]) => createTxtResolver(name, server))
}

function createTxtResolver(name: string, server: DnsServer): TxtResolver {
  const asking = new Map<string, Promise<TxtAnswer>>()
  const places = createPlaces(MAX_IN_FLIGHT)

  async function askInTime(host: string, timeoutMs: number): Promise<TxtAnswer> {
    const deadline = performance.now() + timeoutMs
    const leave = await places.enter(timeoutMs)
    if (!leave) return { status: 'failed', reason: 'timeout' }
    try {
      return await askServer(server, host, () => Math.min(TRY_MS, deadline - performance.now()))
    } finally {
      leave()
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
    const tryMs = timeLeftMs()
    if (tryMs < SHORTEST_TRY_MS) break
    // A new id and, with a new socket, a new port for every try.
    const question = createQuestion(name, randomInt(0x10000))
    if (!question) return { status: 'absent', ttlSeconds: null, aliases: 0 }
    const outcome = await askOverUdp(server, question, tryMs)
    const answer =
      outcome === 'truncated' ? await askOverTcp(server, question, Math.max(1, timeLeftMs())) : outcome
    if (answer.status !== 'failed' || (answer.reason !== 'timeout' && answer.reason !== 'server_failure'))
      return answer
    last = answer
  }
  return last
}

/** At most `count` at a time, in the order of arrival; who waits longer than it may gets nothing. */
function createPlaces(count: number) {
  const waiting = new Set<() => void>()
  let free = count
  function leave(): void {
    const [next] = waiting
    if (next) next()
    else free++
  }
  return {
    /** @returns what gives the place back */
    enter(timeoutMs: number): Promise<(() => void) | undefined> {
      if (free > 0) {
        free--
        return Promise.resolve(leave)
      }
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(take)
          resolve(undefined)
        }, timeoutMs)
        const take = () => {
          clearTimeout(timer)
          waiting.delete(take)
          resolve(leave)
        }
        waiting.add(take)
      })
    },
  }
}

function parseServer(text: string): DnsServer {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text) ?? []
  return port === undefined
    ? { address: text, port: DNS_PORT }
    : { address: bracketed ?? plain!, port: Number(port) }
}

const nameOf = ({ address, port }: DnsServer) => `${isIPv6(address) ? `[${address}]` : address}:${port}`
