// An unpaid call: authenticated, limited, read, validated, priced and answered with a challenge, against express answering
// the same 402 as a constant. The offers in it are signed (once a second, which is as fine as they say); the quote is
// signed for each request. `node bench/challenge.ts`
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  closedLoop,
  type LoadResult,
  median,
  percentile,
  printTable,
  START_FLAGS,
  type ServerProcess,
  type Shot,
  startServer,
} from './support.ts'

const ROUNDS = 7
const REQUESTS = 8000
const WARM_UP = 4000
const CONNECTIONS = 16
const here = (path: string) => new URL(path, import.meta.url).pathname

const CASES = [
  { what: 'static: accepts, bazaar, offers', path: '/v1/bench/paid', body: { text: 'hello' }, target: 60 },
  {
    what: 'with a quote signed per request',
    path: '/v1/tools/web.fetch/testnet',
    body: { url: 'https://sandbox.agent-gateway.test/article' },
    target: 35,
  },
] as const

const shotOf = (path: string, body: object): Shot => ({
  path,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
  status: 402,
})

/** What the gateway answers, for the peer to repeat; a challenge without its parts would be cheap. */
async function learnAnswer(gateway: ServerProcess, path: string, body: object, isQuoted: boolean) {
  const { method, headers, body: text } = shotOf(path, body)
  const response = await fetch(gateway.url + path, { method, headers: headers!, body: text! })
  const answer = await response.text()
  const required = Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString()
  const isComplete = ['"accepts"', 'bazaar', 'payment-identifier', 'offer-receipt'].every((part) =>
    required.includes(part),
  )
  if (response.status !== 402 || !isComplete || isQuoted !== response.headers.has('x-gateway-quote'))
    throw new Error(`${path} answers ${response.status} ${answer.slice(0, 300)}`)
  const skipped = new Set(['date', 'connection', 'keep-alive', 'content-length'])
  return {
    path,
    headers: Object.fromEntries([...response.headers].filter(([name]) => !skipped.has(name))),
    body: answer,
  }
}

const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
const servers: ServerProcess[] = []
try {
  const environment = {
    PORT: '0',
    GATEWAY_DATA_DIR: join(directory, 'data'),
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RATE_LIMIT: '0',
  }
  const gateway = await startServer(here('./peers/challenge-gateway.ts'), environment, START_FLAGS)
  servers.push(gateway)
  const answers = await Promise.all(
    CASES.map(({ path, body, target }) => learnAnswer(gateway, path, body, target === 35)),
  )
  const file = join(directory, 'answers.json')
  await writeFile(file, JSON.stringify(answers))
  const express = await startServer(here('./peers/challenge-express.ts'), { ANSWERS_FILE: file }, START_FLAGS)
  servers.push(express)

  for (const { what, path, body, target } of CASES) {
    const contenders = [
      { name: 'express, constant', server: express, shot: shotOf(`/plain${path}`, body) },
      { name: 'express, constant, body read', server: express, shot: shotOf(`/body${path}`, body) },
      { name: 'gateway', server: gateway, shot: shotOf(path, body) },
    ]
    const results = new Map<string, LoadResult[]>()
    for (const { server, shot } of contenders)
      await closedLoop(server, shot, { connections: CONNECTIONS, requests: WARM_UP, awake: true })
    for (let round = 0; round < ROUNDS; round++)
      for (const { name, server, shot } of contenders) {
        const result = await closedLoop(server, shot, {
          connections: CONNECTIONS,
          requests: REQUESTS,
          awake: true,
        })
        results.set(name, [...(results.get(name) ?? []), result])
      }
    report(what, results, target)
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()))
  await rm(directory, { recursive: true, force: true })
}

function report(what: string, results: ReadonlyMap<string, LoadResult[]>, target: number): void {
  const cpu = (name: string) => median(results.get(name)!.map(({ cpuUs }) => cpuUs))
  printTable(
    `402, ${what}: ${CONNECTIONS} connections, medians of ${ROUNDS} interleaved rounds of ${REQUESTS} ` +
      `(target: at least ${target} % of express)`,
    ['', 'CPU us/req', 'req/CPU-s', 'of express', 'of express reading', 'req/s', 'p50 ms', 'p99 ms'],
    [...results].map(([name, rounds]) => [
      name,
      cpu(name).toFixed(0),
      (1e6 / cpu(name)).toFixed(0),
      `${((100 * cpu('express, constant')) / cpu(name)).toFixed(0)} %`,
      `${((100 * cpu('express, constant, body read')) / cpu(name)).toFixed(0)} %`,
      median(rounds.map(({ requests, seconds }) => requests / seconds)).toFixed(0),
      median(rounds.map(({ latenciesMs }) => percentile(latenciesMs, 0.5))).toFixed(1),
      median(rounds.map(({ latenciesMs }) => percentile(latenciesMs, 0.99))).toFixed(1),
    ]),
  )
}
