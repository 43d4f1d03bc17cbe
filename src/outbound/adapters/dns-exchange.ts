// One question to one DNS server: over UDP, and over TCP where the answer was cut. Every socket is closed when the
// question is answered or its time is over, and nothing is thrown.
import { createSocket } from 'node:dgram'
import { getServers } from 'node:dns'
import { connect, isIPv6 } from 'node:net'
import { startTimerAfterReading } from '../../lib/timer-after-reading.ts'
import {
  type DnsFailure,
  type DnsReply,
  MAX_MESSAGE_BYTES,
  type Question,
  readMessage,
} from '../dns-message.ts'

export interface DnsServer {
  readonly address: string
  readonly port: number
}

type Outcome<T> = DnsReply<T> | 'truncated'

const failed = (reason: DnsFailure) => ({ status: 'failed', reason }) as const

/**
 * The socket is connected: the system drops what comes from any other address, and each question has a port of its own.
 * A message that repeats neither the id nor the question is no answer, and the wait for one goes on.
 */
function askOverUdp<T>(server: DnsServer, question: Question<T>, timeoutMs: number): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4')
    const stopTimer = startTimerAfterReading(() => end(failed('timeout')), timeoutMs)
    const end = (outcome: Outcome<T>) => {
      stopTimer()
      socket.removeAllListeners().on('error', () => {})
      socket.close()
      resolve(outcome)
    }
    // A closed port is told by ICMP: nobody will answer.
    socket.on('error', () => end(failed('server_failure')))
    socket.on('message', (message) => {
      const reading = readMessage(message, question)
      if (reading.is === 'answer') end(reading.answer)
      else if (reading.is === 'truncated') end('truncated')
    })
    try {
      socket.connect(server.port, server.address, () => socket.send(question.bytes))
    } catch {
      // Port 0.
      end(failed('server_failure'))
    }
  })
}

/**
 * Asks over UDP, and over TCP where the answer was cut.
 * @param timeLeftMs asked anew before the second
 */
export async function ask<T>(
  server: DnsServer,
  question: Question<T>,
  timeLeftMs: () => number,
): Promise<DnsReply<T>> {
  const outcome = await askOverUdp(server, question, timeLeftMs())
  return outcome === 'truncated' ? askOverTcp(server, question, Math.max(1, timeLeftMs())) : outcome
}

/** RFC 7766: two bytes of length, then the message. */
function askOverTcp<T>(server: DnsServer, question: Question<T>, timeoutMs: number): Promise<DnsReply<T>> {
  return new Promise((resolve) => {
    const socket = connect({ host: server.address, port: server.port })
    const stopTimer = startTimerAfterReading(() => end(failed('timeout')), timeoutMs)
    let received = Buffer.alloc(0)
    const end = (answer: DnsReply<T>) => {
      stopTimer()
      socket.removeAllListeners().on('error', () => {})
      socket.destroy()
      resolve(answer)
    }
    socket.on('connect', () => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(question.bytes.length)
      socket.write(Buffer.concat([length, question.bytes]))
    })
    socket.on('data', (chunk) => {
      // Never more than one message of the largest size is kept.
      received = Buffer.concat([received, chunk.subarray(0, 2 + MAX_MESSAGE_BYTES - received.length)])
      if (received.length < 2) return
      const length = received.readUInt16BE(0)
      if (length > MAX_MESSAGE_BYTES) return end(failed('too_large'))
      if (received.length >= 2 + length) end(readTcpMessage(received.subarray(2, 2 + length), question))
    })
    socket.on('error', () => end(failed('server_failure')))
    // It ended before the message did.
    socket.on('close', () => end(failed(received.length > 0 ? 'malformed' : 'server_failure')))
  })
}

function readTcpMessage<T>(message: Buffer, question: Question<T>): DnsReply<T> {
  const reading = readMessage(message, question)
  if (reading.is === 'answer') return reading.answer
  // Nothing else was asked on this connection, and there is nothing beyond TCP.
  return failed(reading.is === 'truncated' ? 'too_large' : 'malformed')
}

const DNS_PORT = 53

/** @param servers `ip` or `ip:port`; empty: the system's. Each once. */
export function listServers(servers: readonly string[]): readonly DnsServer[] {
  const named = servers.length > 0 ? servers : getServers()
  const byName = new Map(named.map(parseServer).map((server) => [nameOf(server), server]))
  return [...byName.values()]
}

function parseServer(text: string): DnsServer {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text) ?? []
  const address = bracketed ?? plain
  return address === undefined ? { address: text, port: DNS_PORT } : { address, port: Number(port) }
}

/** `192.0.2.1:53`, `[2001:db8::1]:53`. */
export const nameOf = ({ address, port }: DnsServer) =>
  `${isIPv6(address) ? `[${address}]` : address}:${port}`
