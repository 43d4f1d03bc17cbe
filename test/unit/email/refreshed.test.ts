import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKnowledgeReader } from '../../../src/email/adapters/knowledge.ts'
import { createListLoader } from '../../../src/email/adapters/list-loader.ts'
import {
  MAX_LIST_BYTES,
  readRefreshedList,
  refreshedFile,
  storeRefreshedList,
} from '../../../src/email/adapters/refreshed.ts'
import { refreshLists } from '../../../src/email/adapters/source.ts'
import { readDomain } from '../../../src/email/domain.ts'
import { emailDomainsDocument, type EmailDomainsDocument } from '../../../src/email/lists.ts'

const NOW = Date.parse('2026-11-20T23:59:00Z')
const domains = (count: number, prefix = 'd') =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}.example`)

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'agent-gateway-lists-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

const store = (text: string, from = 'https://lists.example/blocklist.conf?key=1') =>
  storeRefreshedList({ dataDir, text, from, now: NOW })

describe('a refreshed list', () => {
  it('is kept sorted, once each, with where it came from and its day', async () => {
    const text = `# comment\r\n${['B.example', 'a.example # why', 'a.example', 'bücher.example', ...domains(100)].join('\r\n')}\n`
    expect(await store(text)).toEqual({
      file: refreshedFile(dataDir),
      domains: 103,
      added: 103,
      removed: 0,
      ignored: 0,
      protected: [],
    })
    const list = await readRefreshedList(dataDir)
    expect(list).toMatchObject({ name: 'lists.example', date: '2026-11-20' })
    expect(list!.names).toEqual(['a.example', 'b.example', 'xn--bcher-kva.example', ...domains(100)].sort())
    expect(await readdir(dataDir)).toEqual(['email-disposable.txt'])
  })

  it('may be a JSON array, and says what it changes', async () => {
    await store(domains(120).join('\n'))
    const next = [...domains(110), ...domains(5, 'new')]
    expect(await store(JSON.stringify(next))).toMatchObject({ domains: 115, added: 5, removed: 10 })
  })

  it('leaves out providers and relays, and says so', async () => {
    const report = await store(['gmail.com', 'Duck.com', ...domains(100)].join('\n'))
    expect(report).toMatchObject({ domains: 100, protected: ['duck.com', 'gmail.com'] })
    expect((await readRefreshedList(dataDir))!.names).not.toContain('gmail.com')
  })

  it.each<[string, string, RegExp]>([
    ['an error page', '<!doctype html>\n<title>Not found</title>\n'.repeat(60), /no domains/],
    ['an empty answer', '', /at least 100/],
    ['half of a download', domains(99).join('\n'), /at least 100/],
    ['JSON that does not end', JSON.stringify(domains(200)).slice(0, -10), /begins like JSON/],
    ['a list of something else', JSON.stringify(domains(200).map((domain) => ({ domain }))), /no domains/],
    ['a flood', 'a'.repeat(MAX_LIST_BYTES + 1), /at most 16 MiB/],
  ])('%s is refused, and the one before stays', async (_, text, why) => {
    await store(domains(100).join('\n'))
    await expect(store(text)).rejects.toMatchObject({
      code: 'input_invalid',
      message: expect.stringMatching(why),
    })
    expect((await readRefreshedList(dataDir))!.names).toHaveLength(100)
  })

  it('counts as none where there is none, or a hand broke it', async () => {
    expect(await readRefreshedList(dataDir)).toBeUndefined()
    await writeFile(refreshedFile(dataDir), 'mailinator.com\n')
    expect(await readRefreshedList(dataDir)).toBeUndefined()
  })

  it('is cited by its file name, never by a path', async () => {
    await store(domains(100).join('\n'), '/home/ada/secret/list.txt')
    expect((await readRefreshedList(dataDir))!.name).toBe('list.txt')
  })
})

describe('refreshLists', () => {
  it('reads a file', async () => {
    const file = join(dataDir, 'downloaded.txt')
    await writeFile(file, domains(150).join('\n'))
    expect(await refreshLists({ dataDir, from: file, now: NOW })).toMatchObject({ domains: 150 })
    await expect(refreshLists({ dataDir, from: `${file}.not`, now: NOW })).rejects.toMatchObject({
      code: 'input_invalid',
    })
  })

  it('downloads, bounded, and says which host did not answer', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/list') response.end(domains(130).join('\n'))
      else if (request.url === '/flood') for (let i = 0; i < 20; i++) response.write('a'.repeat(1024 * 1024))
      else response.writeHead(500).end(domains(130).join('\n'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      expect(await refreshLists({ dataDir, from: `${url}/list`, now: NOW })).toMatchObject({ domains: 130 })
      await expect(refreshLists({ dataDir, from: `${url}/flood`, now: NOW })).rejects.toMatchObject({
        code: 'input_invalid',
      })
      await expect(refreshLists({ dataDir, from: `${url}/broken`, now: NOW })).rejects.toMatchObject({
        code: 'upstream_unreachable',
        message: expect.stringContaining('127.0.0.1'),
      })
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
    for (const from of ['http://lists.example/x', 'ftp://lists.example/x', 'https://'])
      await expect(refreshLists({ dataDir, from, now: NOW })).rejects.toMatchObject({ code: 'input_invalid' })
    expect((await readRefreshedList(dataDir))!.names).toHaveLength(130)
  })
})

describe('createKnowledgeReader', () => {
  it('loads once, and follows the operator’s document and a refreshed list while it runs', async () => {
    let now = NOW
    let document: EmailDomainsDocument = emailDomainsDocument.initial
    let problem: string | undefined
    let reads = 0
    let isAway = false
    const problems: string[] = []
    const documents = {
      async read() {
        reads++
        if (isAway) throw new Error('away')
        return { value: document, ...(problem === undefined ? {} : { problem }) } as never
      },
    }
    const read = createKnowledgeReader({
      dataDir,
      loadLists: createListLoader({ dataDir }).load,
      documents,
      report: (text) => problems.push(text),
      now: () => now,
    })
    const resultOf = async (domain: string) => {
      const parsed = readDomain(domain)
      if (!parsed.ok) throw new Error(domain)
      return (await read()).findDisposable(parsed.name).result
    }

    const [first, second] = await Promise.all([read(), read()])
    expect(first).toBe(second)
    expect(reads).toBe(1)
    expect(await resultOf('mailinator.com')).toBe('listed')
    document = { disposable: ['d1.example'], allowed: ['mailinator.com'], roles: [] }
    problem = 'broken by hand'
    now += 300
    expect(await resultOf('mailinator.com')).toBe('allowed')
    expect(await resultOf('d1.example')).toBe('listed')
    now += 300
    await read()
    expect(problems).toEqual(['broken by hand'])

    await store(domains(100, 'fresh').join('\n'))
    expect(await resultOf('fresh7.example')).toBe('not_listed')
    now += 60_000
    // Nobody waits for it: it serves from when it has been read.
    expect(await resultOf('fresh7.example')).toBe('not_listed')
    await expect.poll(() => ((now += 300), resultOf('fresh7.example'))).toBe('listed')

    isAway = true
    now += 300
    await expect(read()).rejects.toThrow('away')
    isAway = false
    expect(await resultOf('fresh7.example')).toBe('listed')
  })
})
