import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, realpath, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { noteRunning } from '../../../../src/app/running.ts'
import { filesNamedIn, findGatewayData, listenersIn } from '../../../../src/cli/run/gateway-data.ts'

/** A run that was started elsewhere, whose own data directory is no gateway's. */
const ELSEWHERE = { dataDir: '/nowhere/data', named: undefined }

let folder: string
let url: string
let ends: (() => unknown)[]
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-gateway-')))
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  ends = [() => rm(folder, { recursive: true }), () => new Promise((resolve) => server.close(resolve))]
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
})

async function holdLock(): Promise<void> {
  const lock = await open(join(folder, 'lock.db'), 'w')
  ends.push(() => lock.close())
}

/** A process that listens, started in the folder. */
async function startListener(env: Record<string, string>): Promise<{ url: string; pid: number }> {
  const program = `require('node:http').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })`
  const child = spawn(process.execPath, ['-e', program], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  ends.push(async () => {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  })
  const [text] = (await once(child.stdout, 'data')) as [Buffer]
  return { url: `http://localhost:${text.toString().trim()}`, pid: child.pid! }
}

it('finds the folder of the process that listens there', async () => {
  await holdLock()
  expect((await findGatewayData({ url, ...ELSEWHERE })).folders).toContain(folder)
})

it('refuses where the process that listens there has no such folder, or where nobody listens', async () => {
  const refused = /could not be found\. Nothing was started\. Name it with --gateway-data DIRECTORY/
  await expect(findGatewayData({ url, ...ELSEWHERE })).rejects.toThrow(refused)
  await expect(findGatewayData({ url: 'http://localhost:1', ...ELSEWHERE })).rejects.toThrow(refused)
  await expect(findGatewayData({ url: 'http://name.invalid:1', ...ELSEWHERE })).rejects.toThrow(refused)
})

it('takes no file of the same name for a lock that was removed', async () => {
  await holdLock()
  await rm(join(folder, 'lock.db'))
  await writeFile(join(folder, 'lock.db'), '')
  await expect(findGatewayData({ url, ...ELSEWHERE })).rejects.toThrow('could not be found')
})

it.each([
  [{ GATEWAY_DATA_DIR: 'own' }, 'own'],
  [{}, 'data'],
])(
  'finds the folder and the key files of a gateway with another database, by its environment %o',
  async (named, data) => {
    await mkdir(join(folder, data))
    const listener = await startListener({
      ...named,
      GATEWAY_AUTHORITY_KEY_FILE: 'keys/one.jwk, /keys/two.jwk',
    })
    await expect(findGatewayData({ ...ELSEWHERE, url: listener.url })).rejects.toThrow('could not be found')
    await noteRunning(join(folder, data), { pid: listener.pid, url: listener.url })
    const found = await findGatewayData({ ...ELSEWHERE, url: listener.url })
    expect(found.folders).toContain(join(folder, data))
    expect(found.files).toEqual(expect.arrayContaining([join(folder, 'keys/one.jwk'), '/keys/two.jwk']))
  },
)

it('takes the word of the own data directory, and of whoever names another one', async () => {
  await noteRunning(folder, { pid: process.pid, url })
  await expect(findGatewayData({ url, dataDir: folder, named: undefined })).resolves.toBeDefined()
  await expect(
    findGatewayData({ url: 'http://127.0.0.1:1', dataDir: folder, named: undefined }),
  ).rejects.toThrow('could not be found')
  expect((await findGatewayData({ url, ...ELSEWHERE, named: folder })).folders).toContain(folder)
  expect((await findGatewayData({ url, ...ELSEWHERE, named: 'none' })).folders).not.toContain(folder)
  await expect(findGatewayData({ url, ...ELSEWHERE, named: '/nowhere' })).rejects.toThrow(
    '--gateway-data: /nowhere is no directory',
  )
})

it('hides a gateway of this machine, whichever gateway is asked', async () => {
  await holdLock()
  expect((await findGatewayData({ ...ELSEWHERE, url: 'https://192.0.2.1' })).folders).toContain(folder)
})

it('reads of the table of the kernel what listens at a port', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:20D2 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:20D2 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0000000000000000 20 4 30 10 -1
   2: 00000000:20D3 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000000000000000 100 0 0 10 0
`
  expect(listenersIn(table, 8402)).toEqual([{ inode: '4711', uid: 1000 }])
})

it('names the files of an environment', () => {
  expect(filesNamedIn({ GATEWAY_AUTHORITY_KEY_FILE: 'a, b', GATEWAY_X_FILE: '', OTHER_FILE: 'c' })).toEqual([
    'a',
    'b',
  ])
})
