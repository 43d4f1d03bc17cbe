import { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runChild, takeEndingSignals } from '../../../../src/cli/run/child.ts'
import { start } from '../../../support/process.ts'
import { CTRL_C, startOnTerminal } from '../../../support/terminal.ts'

const ENDING = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const
const node = (program: string) => [process.execPath, '-e', program]

/** Sends this process a signal as its listeners see it: a worker of the tests has no signals of its own. */
const send = (signal: NodeJS.Signals) => process.emit(signal, signal)

describe('the signals of a run', () => {
  let before: ReadonlyMap<string, number>
  let said: string[]
  beforeEach(() => {
    before = new Map(ENDING.map((signal) => [signal, process.listenerCount(signal)]))
    said = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  })
  afterEach(() => vi.restoreAllMocks())

  const taken = (signal: string) => process.listenerCount(signal) - before.get(signal)!

  it('are taken without a gap from the start until they are released', async () => {
    const gaps: string[] = []
    const ending = takeEndingSignals()
    const look = (name: string | symbol) => {
      if (before.has(String(name)) && taken(String(name)) < 1) gaps.push(String(name))
    }
    process.on('removeListener', look)
    expect(await runChild(node('process.exit(7)'), {}, ending)).toBe(7)
    await expect(runChild(['no-such-program-of-a-test'], {}, ending)).rejects.toMatchObject({
      message: expect.stringContaining('There is no program'),
      exitCode: 127,
    })
    for (const program of [import.meta.filename + '/curl', import.meta.dirname])
      await expect(runChild([program], {}, ending)).rejects.toMatchObject({
        message: expect.stringContaining('could not be started'),
        exitCode: 126,
      })
    process.off('removeListener', look)
    expect(gaps).toEqual([])
    expect(ENDING.map(taken)).toEqual([1, 1, 1])
    ending.release()
    expect(ENDING.map(taken)).toEqual([0, 0, 0])
  })

  it('are kept where there is no program yet, the first of them', () => {
    const ending = takeEndingSignals()
    expect(ending.early()).toBeUndefined()
    send('SIGHUP')
    send('SIGTERM')
    expect(ending.early()).toBe('SIGHUP')
    ending.release()
  })

  it('are counted once the program has ended: the second is of somebody who does not want to wait', async () => {
    const ending = takeEndingSignals()
    await runChild(node(''), {}, ending)
    expect([ending.wasIgnored(), ending.impatient.aborted]).toEqual([false, false])
    send('SIGTERM')
    expect([ending.wasIgnored(), ending.impatient.aborted]).toEqual([true, false])
    send('SIGTERM')
    expect([ending.wasIgnored(), ending.impatient.aborted]).toEqual([true, true])
    ending.release()
  })

  it('that this user may not send to the program leave it running', async () => {
    const ending = takeEndingSignals()
    let unsent = 0
    vi.spyOn(ChildProcess.prototype, 'kill').mockImplementation(function (this: ChildProcess) {
      return !this.emit('error', Object.assign(new Error('kill EPERM'), { code: 'EPERM' }))
    })
    const ended = runChild(
      node(`process.on('SIGUSR2', () => process.exit(5)); setTimeout(() => {}, 60_000)`),
      {},
      ending,
      {
        isTold: false,
        isApart: true,
        unsent: () => unsent++,
      },
    )
    for (const signal of ENDING) send(signal)
    expect(unsent).toBe(3)
    vi.restoreAllMocks()
    const again = setInterval(() => send('SIGUSR2'), 20)
    // By the signal itself, where it is not ready yet.
    expect([5, 128 + constants.signals.SIGUSR2]).toContain(await ended)
    clearInterval(again)
    ending.release()
  })

  it('go to the program while it runs, and to nobody afterwards', async () => {
    const ending = takeEndingSignals()
    const program = node(`process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1000)`)
    const ended = runChild(program, {}, ending)
    const again = setInterval(() => send('SIGTERM'), 20)
    expect([5, 143]).toContain(await ended)
    clearInterval(again)
    send('SIGTERM')
    expect(ending.wasIgnored()).toBe(true)
    send('SIGINT')
    expect(ending.impatient.aborted).toBe(true)
    // A word could be waited for here, before anything is taken back.
    expect(said).toEqual([])
    expect(ending.early()).toBeUndefined()
    ending.release()
  })
})

describe('a program that reads', () => {
  const CHILD = JSON.stringify(new URL('../../../../src/cli/run/child.ts', import.meta.url).href)
  /** A process that runs the program as `run` does, and ends as it does. */
  const runner = (program: string) => [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '-e',
    `import { runChild, takeEndingSignals } from ${CHILD}
    const ending = takeEndingSignals()
    process.exitCode = await runChild(${JSON.stringify(node(program))}, process.env, ending)
    ending.release()`,
  ]

  it('waits for what comes through a pipe, also once it was told of a signal', async () => {
    // Its stdin and that of the runner are one open pipe, with one set of flags (Linux shows them).
    const program = `
      const { constants, readFileSync, readSync } = require('node:fs')
      process.on('SIGWINCH', () => {
        const [, flags] = /flags:\\s*(\\d+)/.exec(readFileSync('/proc/self/fdinfo/0', 'utf8'))
        console.log(Number.parseInt(flags, 8) & constants.O_NONBLOCK ? 'would fail' : 'reads')
        const bytes = Buffer.alloc(10)
        console.log('got ' + bytes.toString('latin1', 0, readSync(0, bytes)))
        process.exit(5)
      })
      setInterval(() => {}, 1000)
      console.log('ready')`
    const [file = '', ...args] = runner(program)
    const started = start(file, args, { stdin: 'pipe' })
    await started.until('stdout', /ready/)
    started.kill('SIGWINCH')
    await started.until('stdout', /reads|would fail/)
    started.child.stdin!.end('words')
    expect((await started.ended).code).toBe(5)
    expect(started.stdout()).toBe('ready\nreads\ngot words\n')
  })

  it('is told of Ctrl-C once by a terminal, also where something else is its stdin', async () => {
    const program = `
      let times = 0
      process.on('SIGINT', () => console.log('interrupted ' + ++times))
      process.on('SIGUSR1', () => { console.log('in all ' + times); process.exit(0) })
      setInterval(() => {}, 1000)
      console.log('ready ' + process.ppid)`
    const started = startOnTerminal(
      ['sh', '-c', 'exec "$@" < /dev/null', 'sh', ...runner(program)],
      process.env,
    )
    const [, pid] = await started.until('stdout', /ready (\d+)/)
    started.type(CTRL_C)
    await started.until('stdout', /interrupted 1/)
    // Whatever the first one set off is told before.
    process.kill(Number(pid), 'SIGUSR1')
    await started.ended
    expect(started.stdout()).toContain('in all 1')
  })
})
