// Email verification: a batch of 100 addresses over 60 domains while DNS takes 20 ms an answer; one warm address against a
// constant Express route; and 10,000 addresses while 1 % of the answers of DNS are SERVFAIL. `node bench/email.ts`
import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Answer, decode, encode } from 'dns-packet'
import { closedLoop, createServers, median, percentile, printTable, START_FLAGS } from './support.ts'

const BATCH = 100
const DOMAINS = 60
const DNS_MS = 20
const BATCHES = 15
const ROUNDS = 7
const MANY = 10_000
const FAILING_SHARE = 0.01

/** Every name has a mail host, every host an address; of the answers about `flaky` names a share fails. */
async function startDns() {
  const socket = createSocket('udp4')
  const counts = { asked: 0, failed: 0 }
  let delayMs = 0
  socket.on('message', (message, peer) => {
    const { id, questions } = decode(message)
    const { name, type } = questions![0]!
    counts.asked++
    const fails = name.includes('flaky') && Math.random() < FAILING_SHARE
    if (fails) counts.failed++
    const answers = fails ? [] : [recordOf(name, type)]
    const bytes = encode({
      type: 'response',
      id: id!,
      flags: 0x80 | (fails ? 2 : 0),
      questions: questions!,
      answers,
    })
    const reply = () => socket.send(bytes, peer.port, peer.address)
    if (delayMs > 0) setTimeout(reply, delayMs)
    else reply()
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    counts,
    delay: (ms: number) => void (delayMs = ms),
    close: () => socket.close(),
  }
}

function recordOf(name: string, type: string): Answer {
  if (type === 'MX')
    return { type, name, ttl: 300, data: { preference: 10, exchange: `mx.${name}` } } as Answer
  return { type: 'A', name, ttl: 300, data: '93.184.216.34' }
}

const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
const dns = await startDns()
const servers = createServers()
try {
  const gateway = await servers.start(
    '../src/cli/main.ts',
    {
      PORT: '0',
      GATEWAY_DATA_DIR: join(directory, 'data'),
      GATEWAY_DNS_SERVERS: dns.address,
      GATEWAY_LOG_LEVEL: 'error',
      GATEWAY_RATE_LIMIT: '0',
      GATEWAY_EMAIL_DAILY_QUOTA: '1000000000',
    },
    START_FLAGS,
  )
  const json = { 'content-type': 'application/json' }
  const made = await fetch(`${gateway.url}/v1/keys/free`, { method: 'POST', headers: json, body: '{}' })
  const { key } = (await made.json()) as { key: string }
  const headers = { ...json, authorization: `Bearer ${key}` }
  const batch = async (emails: readonly string[]) => {
    const at = performance.now()
    const answer = await fetch(`${gateway.url}/v1/verify/batch`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ emails }),
    })
    const { results } = (await answer.json()) as { results: { decision: string; reasons: string[] }[] }
    return { ms: performance.now() - at, results }
  }
  // The first verification loads the lists.
  await batch(['ada@warm-up.com'])

  dns.delay(DNS_MS)
  const times: number[] = []
  for (let i = 0; i < BATCHES; i++) {
    const { ms, results } = await batch(
      Array.from({ length: BATCH }, (_, j) => `person${j}@company-${i}-${j % DOMAINS}.com`),
    )
    if (results.some(({ decision }) => decision !== 'accept')) throw new Error('an address was not accepted')
    times.push(ms)
  }
  dns.delay(0)
  times.sort((a, b) => a - b)
  printTable(
    `${BATCH} addresses over ${DOMAINS} new domains, DNS at ${DNS_MS} ms an answer: ${BATCHES} batches (target: under 250 ms)`,
    ['', 'median ms', 'worst ms'],
    [['POST /v1/verify/batch', percentile(times, 0.5).toFixed(0), times.at(-1)!.toFixed(0)]],
  )

  const shot = { path: '/v1/verify', method: 'POST' as const, headers, body: '{"email":"ada@company.com"}' }
  const sample = await fetch(`${gateway.url}/v1/verify`, { method: 'POST', headers, body: shot.body })
  const express = await servers.start(
    './peers/express-constant.ts',
    { ANSWER: await sample.text() },
    START_FLAGS,
  )
  const contenders = [
    { name: 'express, constant', server: express, shot: { ...shot, path: '/constant' } },
    { name: 'express, constant as long, body read', server: express, shot: { ...shot, path: '/same' } },
    { name: 'POST /v1/verify, warm', server: gateway, shot },
  ]
  for (const { server, shot } of contenders)
    await closedLoop(server, shot, { connections: 16, requests: 30_000 })
  const results = contenders.map(() => ({ perSecond: [] as number[], cpuUs: [] as number[] }))
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, { server, shot }] of contenders.entries()) {
      const { requests, seconds, cpuUs } = await closedLoop(server, shot, { connections: 16, requests: 8000 })
      results[i]!.perSecond.push(requests / seconds)
      results[i]!.cpuUs.push(cpuUs)
    }
  const cpu = (i: number) => median(results[i]!.cpuUs)
  printTable(
    `one address, 16 connections, medians of ${ROUNDS} interleaved rounds (target: at least 60 % of a constant)`,
    ['', 'CPU us/req', 'requests/s', 'of express', 'of express, as long'],
    contenders.map(({ name }, i) => [
      name,
      cpu(i).toFixed(0),
      median(results[i]!.perSecond).toFixed(0),
      `${((100 * cpu(0)) / cpu(i)).toFixed(0)} %`,
      `${((100 * cpu(1)) / cpu(i)).toFixed(0)} %`,
    ]),
  )

  const before = { ...dns.counts }
  const decisions = new Map<string, number>()
  const at = performance.now()
  for (let i = 0; i < MANY; i += BATCH)
    for (const { decision, reasons } of (
      await batch(Array.from({ length: BATCH }, (_, j) => `ada@flaky-${i + j}.com`))
    ).results) {
      const what = [decision, ...reasons].join(' ')
      decisions.set(what, (decisions.get(what) ?? 0) + 1)
    }
  const seconds = (performance.now() - at) / 1000
  printTable(
    `${MANY} addresses, each of a domain of its own, ${FAILING_SHARE * 100} % SERVFAIL (target: none rejected)`,
    ['decision', 'addresses'],
    [...decisions].map(([what, count]) => [what, count]),
  )
  console.log(
    `${dns.counts.asked - before.asked} questions, ${dns.counts.failed - before.failed} failed, ${(MANY / seconds).toFixed(0)} addresses/s`,
  )
  if ([...decisions.keys()].some((what) => what.startsWith('reject'))) process.exitCode = 1
} finally {
  await servers.stop()
  dns.close()
  await rm(directory, { recursive: true, force: true })
}
