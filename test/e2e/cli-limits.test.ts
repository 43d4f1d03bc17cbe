// Commands that wait for work of the gateway, and are told meanwhile that they ask too often.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { newToken } from '../../src/lib/tokens.ts'
import { runCli } from '../support/cli.ts'

const limited = {
  title: 'Too many requests',
  code: 'rate_limited',
  status: 429,
  retry_after_seconds: 1,
}
/** Done at the second question; the first one is refused. */
const WORK: Readonly<Record<string, (state: string) => unknown>> = {
  '/v1/backup': (state) => ({ state, file: state === 'done' ? 'backup.gz' : null }),
  '/v1/authority/rotate': (state) => ({ rotation_id: 'rot_1', state, rewrapped: 0, total: 1 }),
  '/v1/authority/rotation': (state) => ({
    rotation: { rotation_id: 'rot_1', state, rewrapped: 0, total: 1 },
  }),
}

let server: Server
let questions = 0
beforeAll(async () => {
  server = createServer((req, res) => {
    const answer = WORK[req.url!]!
    const isRefused = req.method === 'GET' && ++questions === 1
    res.writeHead(isRefused ? 429 : 200, { 'content-type': 'application/json' })
    res.end(JSON.stringify(isRefused ? limited : answer(req.method === 'GET' ? 'done' : 'running')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => new Promise<unknown>((resolve) => server.close(resolve)))
beforeEach(() => (questions = 0))

it.each([
  ['backup --url', 'backup.gz'],
  ['authority rotate --url', 'rot_1'],
])('`%s` waits as long as it is told, and asks again', async (command, found) => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code, stdout, stderr } = await runCli([...command.split(' '), url], {
    GATEWAY_OPERATOR_KEY: newToken('sk'),
    GATEWAY_DATA_DIR: join(tmpdir(), 'no-data-of-limits'),
  })
  expect([code, stderr, questions]).toEqual([0, '', 2])
  expect(stdout).toContain(found)
  expect(stdout).toMatch(/^state +done$/m)
})
