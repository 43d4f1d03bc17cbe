// Commands that wait for work of the gateway, and are told meanwhile that they ask too often, or are answered by another replica.
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
  '/v1/backup': (state) => ({ state, file: state === 'done' ? 'backup.gz' : null, started_at: STARTED_AT }),
  '/v1/authority/rotate': (state) => ({ rotation_id: 'rot_1', state, rewrapped: 0, total: 1 }),
  '/v1/authority/rotation': (state) => ({
    rotation: { rotation_id: 'rot_1', state, rewrapped: 0, total: 1 },
  }),
}

const FORMER = { state: 'done', file: 'former.gz', started_at: '2026-01-01T00:00:00.000Z' }
const STARTED_AT = '2026-02-02T00:00:00.000Z'

let server: Server
let questions = 0
/** Whether another replica answers this question. */
let isElsewhere = (_question: number) => false
beforeAll(async () => {
  server = createServer((req, res) => {
    const answer = WORK[req.url!]!
    if (req.url === '/v1/backup' && req.method === 'GET' && isElsewhere(questions + 1)) {
      questions++
      res.writeHead(200, { 'content-type': 'application/json' })
      return void res.end(JSON.stringify(FORMER))
    }
    const isRefused = req.method === 'GET' && ++questions === 1
    res.writeHead(isRefused ? 429 : 200, { 'content-type': 'application/json' })
    res.end(JSON.stringify(isRefused ? limited : answer(req.method === 'GET' ? 'done' : 'running')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => new Promise<unknown>((resolve) => server.close(resolve)))
beforeEach(() => {
  questions = 0
  isElsewhere = () => false
})

const backUp = () =>
  runCli(['backup', '--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`], {
    GATEWAY_OPERATOR_KEY: newToken('sk'),
    GATEWAY_DATA_DIR: join(tmpdir(), 'no-data-of-limits'),
  })

it('`backup --url` waits for the backup that it began, whichever replica answers', async () => {
  isElsewhere = (question) => question % 2 === 0
  questions = 1
  const { code, stdout } = await backUp()
  expect([code, questions]).toEqual([0, 3])
  expect(stdout).toContain('backup.gz')
  expect(stdout).not.toContain('former.gz')
})

it('`backup --url` says so where nobody who answers knows of the backup that it began', async () => {
  isElsewhere = () => true
  const { code, stdout, stderr } = await backUp()
  expect([code, stdout, questions]).toEqual([1, '', 50])
  expect(stderr).toContain(`the backup that began there at ${STARTED_AT}`)
})

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
