import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runChild, takeEndingSignals } from '../../../../src/cli/run/child.ts'

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
    await expect(runChild(['no-such-program-of-a-test'], {}, ending)).rejects.toThrow('There is no program')
    await expect(runChild([import.meta.filename + '/curl'], {}, ending)).rejects.toThrow(
      'could not be started',
    )
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

  it('go to the program while it runs, and to nobody afterwards', async () => {
    const ending = takeEndingSignals()
    const program = node(`process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1000)`)
    const ended = runChild(program, {}, ending)
    const again = setInterval(() => send('SIGTERM'), 20)
    expect([5, 143]).toContain(await ended)
    clearInterval(again)
    send('SIGTERM')
    send('SIGINT')
    expect(said).toEqual(['agent-gateway run: the program has ended; what it was given is taken back.\n'])
    expect(ending.early()).toBeUndefined()
    ending.release()
  })
})
