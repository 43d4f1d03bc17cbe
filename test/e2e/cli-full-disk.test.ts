// An export that meets the end of the disk in the middle of a page, and a token that has no room. The limit of a shell on the size of files takes its place.
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newToken } from '../../src/lib/tokens.ts'
import { runShell } from '../support/cli.ts'
import { removeFolder } from '../support/remove-folder.ts'

/** Rows of a page, each almost 100 KiB as a line. */
const PAGE = 10
const idOf = (row: number) => `clm_${String(row).padStart(6, '0')}`

let server: Server
let folder: string
let asked = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'full-disk-'))
  // Payments without an end.
  server = createServer((req, res) => {
    asked++
    const before = new URL(req.url!, 'http://localhost').searchParams.get('before')
    const from = before === null ? 0 : Number(before.slice(4)) + 1
    const payments = Array.from({ length: PAGE }, (_, i) => ({
      claim_id: idOf(from + i),
      resource: 'r'.repeat(97_000),
    }))
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ payments, next: payments.at(-1)!.claim_id }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await new Promise<unknown>((resolve) => server.close(resolve))
  await removeFolder(folder)
})

/** No file gets longer than four pages and a half. What Node keeps of compiled code is smaller. */
const run = (command: string) => runShell(`ulimit -f 4500; cd '${folder}'; agent-gateway ${command}`, env())

const env = () => ({
  GATEWAY_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  GATEWAY_OPERATOR_KEY: newToken('sk'),
  GATEWAY_DATA_DIR: join(folder, 'data'),
})

it('keeps whole pages of payments, and names the cursor behind them', async () => {
  const { code, stderr } = await run('payments export --format jsonl --out all.jsonl')
  expect([code, stderr]).toEqual([2, expect.stringContaining('all.jsonl cannot be written')])
  expect(await readdir(folder)).toEqual(['all.jsonl.part'])
  const lines = (await readFile(join(folder, 'all.jsonl.part'), 'utf8')).split('\n')
  expect(lines.pop()).toBe('')
  const ids = lines.map((line) => (JSON.parse(line) as { claim_id: string }).claim_id)
  expect(ids).toEqual(Array.from({ length: 4 * PAGE }, (_, i) => idOf(i)))
  expect(stderr).toContain(`${ids.length} payments are in all.jsonl.part.`)
  expect(stderr).toContain(`--before ${ids.at(-1)}\n`)
})

it('names no cursor where stdout is the file: nobody knows where it is cut', async () => {
  const { code, stderr } = await run('payments export --format jsonl > out.jsonl')
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^agent-gateway: Stdout takes no more \(EFBIG\): [^\n]+\n$/),
  ])
})

it.each([
  ['', /^agent-gateway: There is no space left for full\.key \(EFBIG\): nothing was made\.[^\n]+\n$/],
  [' --json', /^\{\n  "error": "There is no space left for full\.key [^\n]+,\n  "exit_code": 1\n\}\n$/],
])('makes no key where its file has no room (keys create%s)', async (json, words) => {
  asked = 0
  const { code, stdout, stderr } = await runShell(
    `ulimit -f 8; cd '${folder}'; agent-gateway keys create --out full.key${json}`,
    env(),
  )
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(words)])
  expect([asked, (await readdir(folder)).includes('full.key')]).toEqual([0, false])
})
