// What is shipped: dist/, started as npm and a shell start it, on new and old Nodes.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { API_VERSION } from '../../src/core/config.ts'
import { bareEnv } from '../support/cli.ts'
import { finish, start } from '../support/process.ts'
import { removeFolder } from '../support/remove-folder.ts'

const LAUNCHER = fileURLToPath(new URL('../../dist/launcher.js', import.meta.url))

let folder: string
/** Makes a Node say that it is older than it is. */
let pretender: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dist-'))
  pretender = join(folder, 'pretend.cjs')
  writeFileSync(pretender, "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })")
})
afterAll(() => removeFolder(folder))

describe('dist/launcher.js', () => {
  it('serves, is found by commands beside it, and drains', async () => {
    const env = bareEnv({ PORT: '0', GATEWAY_DATA_DIR: join(folder, 'data') })
    const gateway = start(process.execPath, [LAUNCHER, 'serve'], { env })
    const [, url] = await gateway.until('stdout', /^listening on (\S+)$/m)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const { code, stdout } = await finish(process.execPath, [LAUNCHER, 'credits', 'balance', '--json'], {
      env,
    })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ balance: 100 })
    gateway.kill('SIGTERM')
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
  })

  it('ends with `npm start` when a supervisor ends that', async () => {
    const dataDir = join(folder, 'npm')
    // Without the scripts around it: the build is there, and other tests are reading it.
    const npm = start('npm', ['start', '--ignore-scripts'], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: bareEnv({
        PATH: process.env['PATH']!,
        HOME: folder,
        PORT: '0',
        GATEWAY_DATA_DIR: dataDir,
      }),
    })
    await npm.until('stdout', /^listening on (\S+)$/m)
    const { pid } = JSON.parse(readFileSync(join(dataDir, 'gateway.json'), 'utf8')) as { pid: number }
    try {
      const exited = once(npm.child, 'exit')
      npm.kill('SIGTERM')
      await exited
      expect(() => process.kill(pid, 0)).toThrow('ESRCH')
      expect(npm.stderr() + npm.stdout()).toContain('draining')
    } finally {
      endIfAlive(pid)
    }
  })

  it('prints the version of the interface', async () => {
    const { code, stdout } = await finish(process.execPath, [LAUNCHER, '--version'], { env: bareEnv({}) })
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${API_VERSION}\n` })
  })

  it('on an old Node leaves nothing behind when it is killed: the data directory is free', async () => {
    const env = bareEnv({ PORT: '0', GATEWAY_DATA_DIR: join(folder, 'killed') })
    const serve = () => start(process.execPath, ['--require', pretender, LAUNCHER, 'serve'], { env })
    const first = serve()
    await first.until('stdout', /^listening on/m)
    first.kill('SIGKILL')
    // The pipes close when the gateway behind the launcher is gone too.
    await first.ended
    const second = serve()
    await second.until('stdout', /^listening on/m)
    second.kill('SIGTERM')
    expect(await second.ended).toEqual({ code: 0, signal: null })
    expect(second.stderr()).toContain('draining')
  })
})

function endIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
