// `test` as people and workflows run it: the built command, files on disk that change, and the steps of action.yml by the shell.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { SAMPLES } from '../data/commerce/samples.ts'
import { bareEnv } from '../support/cli.ts'
import { wire } from '../support/commerce.ts'
import { finish, start, type Started } from '../support/process.ts'
import { removeFolder } from '../support/remove-folder.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BUILT = join(ROOT, 'dist/launcher.js')

let folder: string
beforeAll(() => expect(existsSync(BUILT), 'npm run build makes it').toBe(true))
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-test-'))
  await mkdir(join(folder, 'samples/deep'), { recursive: true })
  await save('samples/good.json', good)
  await save('samples/deep/bare.json', bare)
})
const made: string[] = []
afterAll(async () => {
  for (const each of made) await removeFolder(each)
})

const good = wire(SAMPLES['x402-http']!)
const bare = wire(SAMPLES['x402-bare']!)
const save = (name: string, value: unknown) => {
  made.push(folder)
  return writeFile(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value, null, 2))
}

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  finish(process.execPath, [BUILT, 'test', ...args], { cwd: folder, env: bareEnv(env) })

describe('test of several files', () => {
  it('shows each report under its name, and ends with 1 where a score is below --min-score', async () => {
    const passing = await run(['samples', '--min-score', '63'])
    expect([passing.code, passing.stderr]).toEqual([0, ''])
    expect(passing.stdout.match(/^== .*$/gm)).toEqual(['== samples/deep/bare.json', '== samples/good.json'])
    expect(passing.stdout).toContain('2 tested, 0 failed.')
    const failing = await run(['samples', '--min-score', '64'])
    expect([failing.code, failing.stderr]).toEqual([
      1,
      'agent-gateway: samples/deep/bare.json scores 63, and --min-score asks for 64.\n',
    ])
  })

  it('ends with 65 where one is no sample or a folder holds none, and with 2 where one is not there', async () => {
    await mkdir(join(folder, 'empty'))
    expect((await run(['empty'])).code).toBe(65)
    await save('samples/broken.json', '{')
    const { code, stdout, stderr } = await run(['samples', '--format', 'github'])
    expect([code, stderr]).toEqual([65, ''])
    expect(stdout).toMatch(/^::error file=samples\/broken\.json,line=1,/m)
    expect(stdout).toContain('3 tested, 1 failed.')
    const gone = await run(['gone.json', 'samples/good.json', '--format', 'json'])
    expect(gone.code).toBe(2)
    expect(JSON.parse(gone.stdout)).toMatchObject({
      passed: false,
      files: [{ file: 'gone.json', report: null }, { report: { score: 100 } }],
    })
  })

  it('names files from the checkout on, wherever in it the workflow is', async () => {
    const { stdout } = await finish(process.execPath, [BUILT, 'test', '.', '--format', 'sarif'], {
      cwd: join(folder, 'samples'),
      env: bareEnv({ GITHUB_WORKSPACE: folder }),
    })
    expect(stdout).toContain('"uri": "samples/deep/bare.json"')
  })

  it.each([
    [['--watch', '-']],
    [['--watch', '--json', 'samples']],
    [['--badge', 'b.svg', 'samples']],
    [['--min-score', '101', 'samples']],
    [['--format', 'xml', 'samples']],
    [[]],
  ])('refuses %j', async (args) => {
    expect((await run(args)).code).toBe(2)
  })
})

describe('test --watch', () => {
  async function watching(args: readonly string[], use: (watch: Started) => Promise<void>): Promise<void> {
    const watch = start(process.execPath, [BUILT, 'test', '--watch', ...args], {
      cwd: folder,
      env: bareEnv({}),
    })
    try {
      await use(watch)
      watch.kill('SIGINT')
      expect(await watch.ended).toEqual({ code: 0, signal: null })
    } finally {
      watch.kill('SIGKILL')
    }
  }
  /** A run that says this, of those from now on: one that comes too early reads a file that is not written to its end. */
  const after = (watch: Started) => {
    const { length } = watch.stdout()
    return ({ source }: RegExp) =>
      new RegExp(`^[\\s\\S]{${length}}[\\s\\S]*?${source}(?:(?!Waiting)[\\s\\S])*Waiting for changes`)
  }
  const runs = (count: number) => new RegExp(`(?:[\\s\\S]*?Waiting for changes){${count}}`)

  it('runs again when a file is written, replaced, broken, mended, added and removed; ends on SIGINT with 0', async () => {
    await watching(['samples', '--min-score', '75'], async (watch) => {
      await watch.until('stdout', runs(1))
      expect(watch.stdout()).toContain('samples/deep/bare.json scores 63')
      let next = after(watch)
      await save('samples/deep/bare.json', good)
      await watch.until('stdout', next(/2 tested, 0 failed\./))
      // As editors save: another file takes the name.
      next = after(watch)
      await save('samples/deep/new.tmp', '{')
      await rename(join(folder, 'samples/deep/new.tmp'), join(folder, 'samples/deep/bare.json'))
      await watch.until('stdout', next(/not JSON in UTF-8/))
      next = after(watch)
      await rm(join(folder, 'samples/deep'), { recursive: true })
      // One file alone is not counted.
      await watch.until('stdout', next(/100\/100(?:(?!tested|Waiting)[\s\S])*(?=\nWaiting)/))
      await mkdir(join(folder, 'samples/other'))
      await save('samples/other/third.json', bare)
      await watch.until('stdout', /other\/third\.json scores 63[\s\S]*Waiting/)
    })
  })

  it('waits for a file that is not there yet, and runs once for many events of one save', async () => {
    await watching(['late/payment.json'], async (watch) => {
      await watch.until('stdout', /cannot be read[\s\S]*Waiting/)
      // Written in one go: where this process has to wait in between, they are several saves.
      mkdirSync(join(folder, 'late'))
      for (let i = 0; i < 5; i++)
        writeFileSync(join(folder, 'late/payment.json'), JSON.stringify({ ...bare, note: i }, null, 2))
      await watch.until('stdout', /63\/100[\s\S]*Waiting/)
      expect(watch.stdout().match(/63\/100/g)?.length).toBe(1)
    })
  })

  it('runs for no badge that it wrote itself', async () => {
    await watching(['samples/good.json', '--badge', 'samples/good.svg'], async (watch) => {
      await watch.until('stdout', runs(1))
      expect(await readFile(join(folder, 'samples/good.svg'), 'utf8')).toContain('100/100')
      await new Promise((resolve) => setTimeout(resolve, 600))
      expect(watch.stdout().match(/Waiting/g)?.length).toBe(1)
    })
  })
})

interface Step {
  readonly name: string
  readonly run: string
  readonly shell: string
  readonly env?: Readonly<Record<string, string>>
}

describe('action.yml', () => {
  interface Action {
    readonly inputs: Readonly<Record<string, { readonly default?: string }>>
    readonly runs: { readonly using: string; readonly steps: readonly Step[] }
  }
  let action: Action
  beforeAll(async () => {
    action = parse(await readFile(join(ROOT, 'action.yml'), 'utf8')) as Action
  })

  /** The step as the runner runs it: `bash --noprofile --norc -eo pipefail`, with its inputs in the environment. */
  async function act(inputs: Readonly<Record<string, string>>) {
    const step = action.runs.steps.find(({ name }) => name === 'Test')!
    const output = join(folder, 'output')
    await writeFile(output, '')
    const filled = Object.entries(step.env!).map(([name, value]) => [
      name,
      value
        .replace('${{ github.action_path }}', ROOT)
        .replace(
          /\$\{\{ inputs\.([\w-]+) \}\}/,
          (_, input: string) => inputs[input] ?? action.inputs[input]?.default ?? '',
        ),
    ])
    const script = join(folder, 'step.sh')
    await writeFile(script, step.run)
    const done = await finish('/bin/bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
      cwd: folder,
      env: bareEnv({ ...Object.fromEntries(filled), GITHUB_OUTPUT: output, GITHUB_WORKSPACE: folder }),
    })
    return { ...done, output: await readFile(output, 'utf8') }
  }

  it('fails a step whose samples score too low, annotates their lines, and writes SARIF beside it', async () => {
    const { code, stdout, output } = await act({ files: 'samples\n', 'sarif-file': 'out.sarif' })
    expect([code, output]).toEqual([1, 'passed=false\n'])
    expect(stdout).toContain('::error file=samples/deep/bare.json,line=1,title=Score::')
    const sarif = JSON.parse(await readFile(join(folder, 'out.sarif'), 'utf8')) as { runs: unknown[] }
    expect(sarif.runs).toHaveLength(1)
  })

  it('passes where all of them score enough', async () => {
    const { code, output } = await act({
      files: 'samples/good.json\r\n\n samples/deep'.replace('\n sam', '\nsam'),
      'min-score': '60',
    })
    expect([code, output]).toEqual([0, 'passed=true\n'])
  })

  it.each([
    ['names no file', { files: ' \n'.trim() }, 2],
    ['names what is not there', { files: 'nowhere.json' }, 2],
    ['has a score that is none', { files: 'samples', 'min-score': 'high' }, 2],
  ])('ends with an error where it %s', async (_, inputs, code) => {
    expect(await act(inputs)).toMatchObject({ code, output: 'passed=false\n' })
  })

  it('takes nothing that it is given for a part of its script, or for an option', async () => {
    const { code } = await act({
      files: '$(touch stolen)\n`touch stolen`\n--badge=stolen\n"; touch stolen; "',
    })
    expect([code, existsSync(join(folder, 'stolen'))]).toEqual([2, false])
    for (const { run: script } of action.runs.steps) expect(script).not.toContain('${{')
  })
})
