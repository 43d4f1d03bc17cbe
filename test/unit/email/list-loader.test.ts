import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKnowledgeReader } from '../../../src/email/adapters/knowledge.ts'
import { createListLoader } from '../../../src/email/adapters/list-loader.ts'
import { LISTS_FD } from '../../../src/email/adapters/lists-process.ts'
import { storeRefreshedList } from '../../../src/email/adapters/refreshed.ts'
import { encodeLists } from '../../../src/email/list-codec.ts'
import { emailDomainsDocument } from '../../../src/email/lists.ts'
import { buildNameTable } from '../../../src/email/compact-set.ts'
import { REFRESHED } from '../../../src/email/sources.ts'
import { finish } from '../../support/process.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'agent-gateway-lists-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

/** A loader whose process runs this instead. */
async function withProgram(code: string) {
  const program = join(dataDir, 'program.mjs')
  await writeFile(program, code)
  return createListLoader({ dataDir, program })
}

const EMPTY = { table: buildNameTable(new Map()), sources: [] }

/** Code that writes the bytes, or what is in the variable of this name, to where lists are written. */
const write = (what: Buffer | string) => {
  const bytes = typeof what === 'string' ? what : `Buffer.from('${what.toString('base64')}', 'base64')`
  return `process.getBuiltinModule('fs').writeSync(${LISTS_FD}, ${bytes})`
}

describe('the lists', () => {
  it('come out of a process of their own, with what the operator refreshed', async () => {
    const text = Array.from({ length: 120 }, (_, i) => `fresh${i}.example`).join('\n')
    await storeRefreshedList({ dataDir, text, from: 'https://lists.example/x', now: 0 })
    const { names, sources } = await createListLoader({ dataDir }).load()
    expect(names.size).toBeGreaterThan(90_000)
    expect(names.get('mailinator.com')).toBeGreaterThan(0)
    expect(names.get('fresh7.example')).toBe(REFRESHED)
    expect(names.get('fresh120.example')).toBe(0)
    expect(sources[0]).toEqual({ bit: REFRESHED, name: 'lists.example', date: '1970-01-01' })
  })

  it.each<[string, string]>([
    ['ends with nothing written', ''],
    ['fails', 'throw new Error("broken")'],
    ['is killed', 'process.kill(process.pid, "SIGKILL")'],
    ['does not parse', '{'],
    ['writes what is no table', write(Buffer.from([0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]))],
    ['writes words', write(Buffer.from('{"size":0}\n'.repeat(50)))],
    ['writes half of it', write(encodeLists(EMPTY).subarray(0, -1))],
    ['writes more than it', write(Buffer.concat([encodeLists(EMPTY), Buffer.alloc(1)]))],
    ['writes without end', `const all = Buffer.alloc(1 << 20); for (;;) ${write('all')}`],
    ['writes it and fails', `${write(encodeLists(EMPTY))}; process.exit(1)`],
    [
      'is killed in the middle',
      `${write(encodeLists(EMPTY).subarray(0, 20))}; process.kill(process.pid, 'SIGKILL')`,
    ],
  ])('are refused for now where the process %s, without words of it', async (_what, code) => {
    const { load } = await withProgram(code)
    await expect(load()).rejects.toMatchObject({
      code: 'overloaded',
      message: 'The lists of domains could not be loaded. Try again in a second.',
      extras: { retry_after_seconds: 1 },
    })
  })

  it('are refused for now where no descriptor is left, and loaded when there are some', async () => {
    const loader = new URL('../../../src/email/adapters/list-loader.ts', import.meta.url)
    const program = join(dataDir, 'program.mjs')
    await writeFile(program, write(encodeLists(EMPTY)))
    const code = `import { closeSync, openSync } from 'node:fs'
      const { createListLoader } = await import(${JSON.stringify(loader.href)})
      const { load } = createListLoader(${JSON.stringify({ dataDir, program })})
      const held = []
      try {
        for (;;) held.push(openSync('/dev/null', 'r'))
      } catch {}
      const refused = await load().catch(({ code }) => code)
      for (const each of held) closeSync(each)
      console.log(refused, (await load()).names.size)`
    const node = [process.execPath, '--input-type=module', '-e', code]
    const {
      code: exit,
      stdout,
      stderr,
    } = await finish('sh', ['-c', 'ulimit -n 100; exec "$@"', 'sh', ...node])
    expect([exit, stdout, stderr]).toEqual([0, 'overloaded 0\n', ''])
  })

  it('are loaded again by the next verification after a failure', async () => {
    const flag = JSON.stringify(join(dataDir, 'tried'))
    const { load } = await withProgram(
      `import { existsSync, writeFileSync } from 'node:fs'
       if (!existsSync(${flag})) {
         writeFileSync(${flag}, '')
         process.exit(1)
       }
       ${write(encodeLists(EMPTY))}`,
    )
    const read = createKnowledgeReader({
      dataDir,
      loadLists: load,
      documents: { read: async () => ({ value: emailDomainsDocument.initial }) as never },
      report: () => {},
      now: () => 0,
    })
    await expect(Promise.all([read(), read()])).rejects.toMatchObject({ code: 'overloaded' })
    expect((await read()).isReal('gmail.com')).toBe(false)
  })

  it('are loaded by one process, however many ask while it works', async () => {
    const { load } = await withProgram(
      `${write(encodeLists(EMPTY))}
       process.getBuiltinModule('fs').appendFileSync(${JSON.stringify(join(dataDir, 'runs'))}, 'x')`,
    )
    let time = 0
    const read = createKnowledgeReader({
      dataDir,
      loadLists: load,
      documents: { read: async () => ({ value: emailDomainsDocument.initial }) as never },
      report: () => {},
      now: () => (time += 100),
    })
    const all = await Promise.all(Array.from({ length: 100 }, read))
    expect(new Set(all).size).toBe(1)
    expect(await readFile(join(dataDir, 'runs'), 'utf8')).toBe('x')
  })

  it('are not waited for when the gateway closes: the process is ended', async () => {
    const { load, close } = await withProgram('setInterval(() => {}, 1000)')
    const [refused] = await Promise.all([
      load().catch((thrown: unknown) => thrown),
      // Once it runs.
      new Promise((resolve) => setImmediate(resolve)).then(close),
    ])
    expect(refused).toMatchObject({ code: 'draining' })
    await expect(load()).rejects.toMatchObject({ code: 'draining' })
  })
})
