// The launcher as it is shipped (plain JavaScript), in a folder of its own with a stand-in for the command line.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { finish, start } from '../../support/process.ts'

const COMMAND_LINE = `
  if (process.argv[2] === 'fail') process.exitCode = 3
  if (process.argv[2] === 'run') {
    const alive = setInterval(() => {}, 1000)
    process.on('SIGTERM', () => { console.log('drained'); clearInterval(alive); process.channel?.unref() })
    process.on('disconnect', () => { console.log('left alone'); process.exit(1) })
  }
  if (process.argv[2] === 'warn') {
    process.emitWarning('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning')
    process.emitWarning('something else', 'ExperimentalWarning')
    process.emitWarning('by code', { code: 'X1' })
  }
  process.stdout.write(JSON.stringify({ node: process.versions.node, pid: process.pid, args: process.argv.slice(2) }) + '\\n')
  if (process.argv[2] === 'die') process.kill(process.pid, 'SIGKILL')
`

let folder: string
let launcher: string
/** Pretends to be older than it is: what counts is what the launcher is told. */
let pretender: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'launcher-'))
  const source = readFileSync(new URL('../../../src/cli/launcher.ts', import.meta.url), 'utf8')
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 },
  })
  launcher = join(folder, 'launcher.js')
  writeFileSync(launcher, outputText.replace('./index.ts', './cli.js'))
  writeFileSync(join(folder, 'cli.js'), COMMAND_LINE)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  pretender = join(folder, 'pretend.cjs')
  writeFileSync(pretender, "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })")
  const bundled = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`)
  mkdirSync(join(bundled, 'bin'), { recursive: true })
  writeFileSync(join(bundled, 'package.json'), '{}')
  symlinkSync(process.execPath, join(bundled, 'bin', 'node'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** An old Node for real where the machine has one, and one that says so everywhere. */
function oldNodes(): { name: string; command: string; flags: string[] }[] {
  const pretending = {
    name: 'a Node that says it is 20',
    command: process.execPath,
    flags: ['--require', pretender],
  }
  const { stdout } = spawnSync('/usr/bin/node', ['--version'], { encoding: 'utf8' })
  const isOld = /^v(?:1\d|20|21)\./.test(stdout ?? '')
  return isOld
    ? [pretending, { name: "the system's Node", command: '/usr/bin/node', flags: [] }]
    : [pretending]
}

describe('launcher', () => {
  it('runs the command line in its own process on a Node that is new enough', async () => {
    const started = start(process.execPath, [launcher, 'keys', 'list'])
    await started.ended
    expect(JSON.parse(started.stdout())).toEqual({
      node: process.versions.node,
      pid: started.pid,
      args: ['keys', 'list'],
    })
  })

  it('keeps the warning of node:sqlite to itself, and no other', async () => {
    const { stderr } = await finish(process.execPath, [launcher, 'warn'])
    expect(stderr).not.toContain('SQLite')
    expect(stderr).toContain('ExperimentalWarning: something else')
    expect(stderr).toContain('[X1] Warning: by code')
  })

  it('lets no thread compile baseline code, which an exit could wait for without an end', async () => {
    const watcher = join(folder, 'watch-flags.cjs')
    writeFileSync(
      watcher,
      `require('node:v8').setFlagsFromString = (flag) => console.error('flag', flag)
      require('node:module').syncBuiltinESMExports()`,
    )
    const { stderr } = await finish(process.execPath, ['--require', watcher, launcher, 'keys'])
    expect(stderr).toContain('flag --no-concurrent-sparkplug')
  })

  it('hands an old Node over to the bundled one, with arguments and exit code', async () => {
    for (const { name, command, flags } of oldNodes()) {
      const { code, stdout } = await finish(command, [...flags, launcher, 'fail', 'two words'])
      expect(JSON.parse(stdout), name).toMatchObject({
        node: process.versions.node,
        args: ['fail', 'two words'],
      })
      expect(code, name).toBe(3)
    }
  })

  it('passes SIGTERM on and waits for the end', async () => {
    for (const { command, flags } of oldNodes()) {
      const started = start(command, [...flags, launcher, 'run'])
      await started.until('stdout', /args/)
      started.kill('SIGTERM')
      expect(await started.ended).toEqual({ code: 0, signal: null })
      expect(started.stdout()).toContain('drained')
    }
  })

  it('lets the gateway notice that it was killed', async () => {
    for (const { command, flags } of oldNodes()) {
      const started = start(command, [...flags, launcher, 'run'])
      await started.until('stdout', /args/)
      started.kill('SIGKILL')
      // `ended` waits for the pipes, which the gateway holds too.
      await started.ended
      expect(started.stdout()).toContain('left alone')
    }
  })

  it('ends as the shell would say when the gateway dies by a signal', async () => {
    const [{ command, flags } = { command: '', flags: [] }] = oldNodes()
    expect((await finish(command, [...flags, launcher, 'die'])).code).toBe(128 + 9)
  })

  it('says in one line what is missing when there is no bundled Node', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'launcher-bare-'))
    try {
      for (const file of ['launcher.js', 'cli.js', 'package.json'])
        writeFileSync(join(elsewhere, file), readFileSync(join(folder, file)))
      const { code, stdout, stderr } = await finish(process.execPath, [
        '--require',
        pretender,
        join(elsewhere, 'launcher.js'),
        'serve',
      ])
      expect(code).toBe(1)
      expect(stdout).toBe('')
      expect(stderr).toMatch(/^agent-gateway needs Node 22\.19 or newer and this is 20\.20\.2: .*\n$/)
    } finally {
      rmSync(elsewhere, { recursive: true, force: true })
    }
  })
})
