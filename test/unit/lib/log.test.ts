import { describe, expect, it } from 'vitest'
import { createLogger, type LogLevel } from '../../../src/lib/log.ts'

function capture(level: LogLevel) {
  const lines: string[] = []
  const log = createLogger(level, { write: (line: string) => void lines.push(line) })
  return { log, read: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

describe('log', () => {
  it('writes one JSON line with an ISO time', () => {
    const { log, read } = capture('info')
    log.info({ tool: 'x' }, 'call')
    expect(read()).toEqual([expect.objectContaining({ tool: 'x', msg: 'call' })])
    expect(new Date(String(read()[0]!['time'])).toISOString()).toBe(read()[0]!['time'])
  })

  it('keeps what an error says out, because it may quote what it was given', () => {
    const { log, read } = capture('info')
    const error = Object.assign(new TypeError('connect to password=hunter2\n    at hunter2 failed'), {
      code: 'ECONNREFUSED',
      cause: new Error('hunter2'),
      detail: 'hunter2',
    })
    log.error({ err: error }, 'failed')
    log.error({ err: 'hunter2' }, 'failed')
    const reworded = new Error('at hunter2\n    at hunter2')
    reworded.message = 'other'
    log.error({ err: reworded }, 'failed')
    const [line, other] = read()
    expect(line!['err']).toMatchObject({
      type: 'TypeError',
      code: 'ECONNREFUSED',
      at: [expect.stringMatching(/^at .*log\.test\.ts/), ...Array(5).fill(expect.anything())],
    })
    expect(other!['err']).toEqual({ type: 'string' })
    expect(JSON.stringify(read())).not.toContain('hunter2')
  })

  it('is silent when told so', () => {
    const { log, read } = capture('silent')
    log.fatal('x')
    expect(read()).toEqual([])
  })
})
