// Storms of large bodies from strangers: every one is answered, and the event loop is never away for long. What counts is the CPU that
// the loop itself took between two rounds, since a machine under test has other work, too.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Turns } from '../../bench/turns.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { createWorld, type World } from '../support/gateway.ts'

/** It was 900 and more where forty bodies were parsed in one round, and 30 where one is at a time. */
const MOST_OWN_MS = 90
const AT_ONCE = 40
const LARGEST = 640 * 1024

let world: World
let gateway: GatewayProcess
let turnsFile: string
const agent = new Agent({ connections: AT_ONCE, pipelining: 1 })
beforeAll(async () => {
  world = await createWorld()
  turnsFile = join(world.dataDir, 'turns')
  gateway = await startGatewayProcess(world, {
    GATEWAY_RATE_LIMIT: '0',
    TURNS_FILE: turnsFile,
    NODE_OPTIONS: `--import ${new URL('../../bench/peers/turn-report.ts', import.meta.url).pathname}`,
  })
})
afterAll(async () => {
  await agent.close()
  await gateway?.stop()
  await world?.close()
})

async function readTurns(): Promise<Turns> {
  const lines = () => readFileSync(turnsFile, { encoding: 'utf8', flag: 'a+' }).split('\n')
  const { length } = lines()
  gateway.process.kill('SIGUSR2')
  while (lines().length === length) await new Promise((resolve) => setTimeout(resolve, 10))
  return JSON.parse(lines().at(-2) ?? '{}') as Turns
}

async function post(path: string, body: string): Promise<number> {
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
  const answer = await request(gateway.baseUrl + path, { method: 'POST', headers, body, dispatcher: agent })
  await answer.body.dump()
  return answer.statusCode
}

const MOST_STORMS = 3

/**
 * What a body takes of the loop, it takes in every storm. What the machine adds to the CPU of a turn, it does not: where one was long there
 * is another storm.
 * @returns statuses of all answers, and the longest turn of the loop in the storm where that was shortest
 */
async function storm(path: string, body: string): Promise<{ statuses: number[]; ownMs: number }> {
  const statuses = new Set<number>()
  let ownMs = Infinity
  for (let storms = 0; storms < MOST_STORMS && ownMs >= MOST_OWN_MS; storms++) {
    await post(path, body)
    await readTurns()
    const answers = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => post(path, body)))
    ownMs = Math.min(ownMs, (await readTurns()).maxOwnMs)
    for (const answer of answers) statuses.add(answer.status === 'fulfilled' ? answer.value : 0)
  }
  return { statuses: [...statuses], ownMs }
}

const fill = (bytes: number, head: string, unit: string, tail: string) =>
  head + unit.repeat(Math.floor((bytes - head.length - tail.length) / unit.length)) + tail
const INPUT = '{"target":"https://example.com/pay","method":"POST","headers":{},"body":'
const rpc = (method: string, params: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}`
const CALL = rpc('tools/call', `{"name":"gateway_inspect","arguments":${INPUT}`)
const SEND = rpc(
  'SendMessage',
  `{"message":{"messageId":"m","role":"ROLE_USER","metadata":{"skillId":"inspect-transaction"},"parts":[{"data":${INPUT}`,
)

it.each([
  ['/v1/inspect', `${INPUT}"`, '"}', [200]],
  ['/mcp', `${CALL}"`, '"}}}', [200]],
  ['/a2a', `${SEND}"`, '"}}]}}}', [200]],
])('forty texts of 640 KiB at %s are taken one by one', async (path, head, tail, expected) => {
  const { statuses, ownMs } = await storm(path, fill(LARGEST, head, 'x', tail))
  expect(statuses).toEqual(expected)
  expect(ownMs).toBeLessThan(MOST_OWN_MS)
})

it.each([
  ['/v1/inspect', INPUT, '}', [413]],
  ['/mcp', CALL, '}}}', [413]],
  ['/a2a', SEND, '}}]}}}', [413]],
])('forty bodies of 200,000 empty lists at %s are not parsed', async (path, head, tail, expected) => {
  const { statuses, ownMs } = await storm(path, fill(LARGEST, `${head}[`, '[],', `[]]${tail}`))
  expect(statuses).toEqual(expected)
  expect(ownMs).toBeLessThan(MOST_OWN_MS)
})

it.each([
  ['/v1/inspect', INPUT, '}'],
  ['/mcp', CALL, '}}}'],
  ['/a2a', SEND, '}}]}}}'],
])('forty bodies with as many members as may be at %s are taken one by one', async (path, head, tail) => {
  const members = Array.from({ length: 29_900 }, (_, i) => `"${i.toString(36)}":1`).join(',')
  const { ownMs } = await storm(path, `${head}{${members}}${tail}`)
  expect(ownMs).toBeLessThan(MOST_OWN_MS)
})

it.each(['/mcp', '/a2a', '/v1/verify/batch', '/v1/inspect'])(
  'forty bodies of 3.5 MB at %s are too large for strangers',
  async (path) => {
    const { statuses, ownMs } = await storm(path, fill(3_500_000, '{"emails":["', 'x', '"]}'))
    // Who sends on and on is cut off, and may not see why.
    expect(statuses.filter((status) => status !== 0)).toEqual([path === '/v1/verify/batch' ? 401 : 413])
    expect(ownMs).toBeLessThan(MOST_OWN_MS)
  },
)
